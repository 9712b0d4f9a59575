-- Which functions take another time for a call on host b than on host a? Any two conditions will do: days, services, versions (a label).
SELECT function,
       countIf(host = 'a') AS calls_a, countIf(host = 'b') AS calls_b,
       avgIf(self, host = 'a') AS self_a, avgIf(self, host = 'b') AS self_b,
       self_b - self_a AS more
FROM call
WHERE host IN ('a', 'b')
GROUP BY function
HAVING calls_a > 0 AND calls_b > 0
ORDER BY abs(more) DESC, function
LIMIT 10
