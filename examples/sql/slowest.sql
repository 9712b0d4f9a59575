-- What did a thread allocate, and whom did it wait for, inside the slowest call of serve whose order had more than one item?
WITH slowest AS (
  SELECT c.* FROM call AS c JOIN shop.order AS o ON inside(c, o)
  WHERE c.function LIKE 'shop::serve(%' AND o."order.items" > 1
  ORDER BY c.duration DESC LIMIT 1)
SELECT 'allocated' AS what, a.function AS place, count(*) AS n, sum(a.bytes) AS bytes, NULL AS ns, NULL AS holder
FROM slowest AS s JOIN allocation AS a ON inside(s, a)
GROUP BY ALL
UNION ALL
SELECT w.lock, w.function, count(*), NULL, sum(w.duration), any_value(w.holder_function)
FROM slowest AS s JOIN wait AS w ON inside(s, w)
GROUP BY ALL;
