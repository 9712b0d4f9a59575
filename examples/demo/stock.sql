-- SPDX-License-Identifier: MIT
-- A table of 100,000 rows, an index, and two questions.
create table stock(id integer primary key, name text, shelf int, price real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
insert into stock select i, 'article ' || (i * 7919 % 100003), i % 97, (i * 31 % 1000) / 10.0 from n;
create index by_shelf on stock(shelf, price);
select shelf, count(*), round(sum(price), 1) from stock group by shelf order by 3 desc limit 2;
select count(*) from stock where name like '%99%';
