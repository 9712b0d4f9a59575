-- Of each host: what did a thread allocate, and whom did it wait for, inside the slowest call of serve whose order had more than one item?
SELECT host, 'allocated' AS what, function AS place, count() AS n, sum(bytes) AS bytes, 0 AS ns, '' AS holder
FROM allocation ALL INNER JOIN (
  SELECT thread, host, time AS begin, time + duration AS end
  FROM call ALL INNER JOIN (
    SELECT thread, time AS at FROM point
    WHERE provider = 'shop' AND name = 'order' AND visitParamExtractInt(assumeNotNull(args), 'order.items') > 1) USING thread
  WHERE function LIKE 'shop::serve(%' AND at >= time AND at < time + duration
  ORDER BY duration DESC LIMIT 1 BY host) USING thread, host
WHERE time >= begin AND time < end
GROUP BY host, place
UNION ALL
SELECT host, lock AS what, function AS place, count() AS n, 0 AS bytes, sum(duration) AS ns, any(holder_function) AS holder
FROM wait ALL INNER JOIN (
  SELECT thread, host, time AS begin, time + duration AS end
  FROM call ALL INNER JOIN (
    SELECT thread, time AS at FROM point
    WHERE provider = 'shop' AND name = 'order' AND visitParamExtractInt(assumeNotNull(args), 'order.items') > 1) USING thread
  WHERE function LIKE 'shop::serve(%' AND at >= time AND at < time + duration
  ORDER BY duration DESC LIMIT 1 BY host) USING thread, host
WHERE time >= begin AND time < end
GROUP BY host, what, place
