-- Of each recording: what did a thread allocate, and whom did it wait for, inside the slowest call of serve whose order had more than one item?
WITH slowest AS (
  SELECT c.* FROM call AS c JOIN shop.order AS o ON inside(c, o)
  WHERE c.function LIKE 'shop::serve(%' AND o."order.items" > 1
  QUALIFY row_number() OVER (PARTITION BY c.recording ORDER BY c.duration DESC) = 1)
SELECT s.recording, 'allocated' AS what, a.function AS place, count(*) AS n, sum(a.bytes) AS bytes, 0 AS ns, '' AS holder
FROM slowest AS s JOIN allocation AS a ON inside(s, a)
GROUP BY ALL
UNION ALL
SELECT s.recording, w.lock, w.function, count(*), 0, sum(w.duration), any_value(w.holder_function)
FROM slowest AS s JOIN wait AS w ON inside(s, w)
GROUP BY ALL
ORDER BY ALL;
