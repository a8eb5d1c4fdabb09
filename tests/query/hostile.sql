# Statements that must be refused, one in each line. Most would be good questions but for one thing.
# --- table functions and files
SELECT COUNT(*) FROM query('SELECT * FROM visits')
SELECT COUNT(*) FROM query_table('visits')
SELECT COUNT(*) FROM query_table(['visits', 'others'])
SELECT COUNT(*) FROM read_csv('/etc/passwd')
SELECT COUNT(*) FROM read_csv_auto('data.csv')
SELECT COUNT(*) FROM read_parquet('data.parquet')
SELECT COUNT(*) FROM parquet_scan('data.parquet')
SELECT COUNT(*) FROM read_json('data.json')
SELECT COUNT(*) FROM read_json_auto('data.json')
SELECT COUNT(*) FROM read_ndjson('data.json')
SELECT COUNT(*) FROM read_text('/etc/passwd')
SELECT COUNT(*) FROM read_blob('/etc/passwd')
SELECT COUNT(*) FROM read_duckdb('other.db')
SELECT COUNT(*) FROM glob('*')
SELECT COUNT(*) FROM sniff_csv('data.csv')
SELECT COUNT(*) FROM parquet_metadata('data.parquet')
SELECT COUNT(*) FROM parquet_schema('data.parquet')
SELECT COUNT(*) FROM arrow_scan(1, 2, 3)
SELECT COUNT(*) FROM pandas_scan(1)
SELECT COUNT(*) FROM sqlite_scan('a.db', 't')
SELECT COUNT(*) FROM postgres_scan('host=a', 'public', 't')
SELECT COUNT(*) FROM mysql_scan('host=a', 'public', 't')
SELECT COUNT(*) FROM iceberg_scan('a')
SELECT COUNT(*) FROM delta_scan('a')
SELECT COUNT(*) FROM st_read('a')
SELECT COUNT(*) FROM range(10)
SELECT COUNT(*) FROM generate_series(1, 10)
SELECT COUNT(*) FROM repeat_row(1, num_rows = 1000000000)
SELECT COUNT(*) FROM unnest([1, 2])
SELECT COUNT(*) FROM 'data.csv'
SELECT COUNT(*) FROM 'data.parquet' AS visits
SELECT COUNT(*) FROM "data.parquet"
SELECT COUNT(*) FROM 'https://example.org/data.parquet'
SELECT COUNT(*) FROM 's3://bucket/data.parquet'
SELECT COUNT(*) FROM '/etc/passwd'
SELECT COUNT(*) FROM (FROM 'data.csv')
SELECT COUNT(*) FROM (VALUES (1), (2))
SELECT COUNT(*) FROM (VALUES (1), (2)) AS visits(age)
SELECT COUNT(*) FROM test_all_types()
SELECT COUNT(*) FROM summary(visits)
SELECT COUNT(*) FROM checkpoint()
SELECT COUNT(*) FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))
SELECT json_serialize_sql('SELECT 1'), COUNT(*) FROM visits
SELECT json_execute_serialized_sql('{}'), COUNT(*) FROM visits
SELECT COUNT(*) FROM which_secret('a', 'b')
SELECT COUNT(*) FROM load_aws_credentials()
SELECT COUNT(*) FROM sql_auto_complete('SEL')
SELECT COUNT(*) FROM mean(age)
SELECT COUNT(*) FROM visits()
SELECT COUNT(*) FROM visits(1)
# --- system tables
SELECT COUNT(*) FROM duckdb_settings()
SELECT COUNT(*) FROM duckdb_tables()
SELECT COUNT(*) FROM duckdb_tables
SELECT COUNT(*) FROM duckdb_secrets()
SELECT COUNT(*) FROM duckdb_extensions()
SELECT COUNT(*) FROM duckdb_functions()
SELECT COUNT(*) FROM duckdb_columns
SELECT COUNT(*) FROM duckdb_temporary_files()
SELECT COUNT(*) FROM duckdb_memory()
SELECT COUNT(*) FROM pragma_table_info('visits')
SELECT COUNT(*) FROM pragma_storage_info('visits')
SELECT COUNT(*) FROM pragma_database_size()
SELECT COUNT(*) FROM pragma_version()
SELECT COUNT(*) FROM sqlite_master
SELECT COUNT(*) FROM sqlite_schema
SELECT COUNT(*) FROM information_schema.tables
SELECT COUNT(*) FROM information_schema.columns
SELECT COUNT(*) FROM pg_catalog.pg_tables
SELECT COUNT(*) FROM pg_tables
SELECT COUNT(*) FROM pg_class
SELECT COUNT(*) FROM main.visits
SELECT COUNT(*) FROM memory.main.visits
SELECT COUNT(*) FROM temp.visits
SELECT COUNT(*) FROM system.main.visits
SELECT COUNT(*) FROM system.information_schema.tables
SELECT COUNT(*) FROM "information_schema"."tables"
# --- statements that are no questions
COPY visits TO 'out.csv'
COPY (SELECT * FROM visits) TO 'out.parquet' (FORMAT parquet)
COPY visits FROM 'in.csv'
COPY FROM DATABASE a TO b
ATTACH 'other.db' AS other
ATTACH DATABASE 'other.db'
ATTACH 'https://example.org/other.db' AS other (READ_ONLY)
ATTACH IF NOT EXISTS 'other.db' (TYPE sqlite)
DETACH other
INSTALL httpfs
INSTALL httpfs FROM community
LOAD httpfs
LOAD '/tmp/evil.duckdb_extension'
FORCE INSTALL httpfs
UPDATE EXTENSIONS
PRAGMA database_list
PRAGMA table_info('visits')
PRAGMA enable_profiling
SET memory_limit = '1TB'
SET enable_external_access = true
SET VARIABLE x = 1
RESET memory_limit
CALL pragma_version()
CALL duckdb_settings()
EXPORT DATABASE 'out'
IMPORT DATABASE 'in'
CREATE TABLE t AS SELECT * FROM visits
CREATE TEMP TABLE t AS SELECT * FROM visits
CREATE OR REPLACE VIEW v AS SELECT * FROM visits
CREATE MACRO f(a) AS a + 1
CREATE FUNCTION f(a) AS a + 1
CREATE SCHEMA s
CREATE SEQUENCE s
CREATE INDEX i ON visits(age)
CREATE TYPE mood AS ENUM ('a')
CREATE SECRET (TYPE s3)
DROP TABLE visits
DROP SECRET x
ALTER TABLE visits ADD COLUMN x INTEGER
INSERT INTO visits VALUES (1)
INSERT INTO visits SELECT * FROM visits
UPDATE visits SET age = 0
DELETE FROM visits
TRUNCATE visits
MERGE INTO visits USING others ON true WHEN MATCHED THEN DELETE
EXPLAIN SELECT COUNT(*) FROM visits
EXPLAIN ANALYZE SELECT COUNT(*) FROM visits
DESCRIBE visits
DESCRIBE SELECT COUNT(*) FROM visits
SUMMARIZE visits
SUMMARIZE SELECT * FROM visits
SHOW TABLES
SHOW ALL TABLES
SHOW visits
USE main
BEGIN TRANSACTION
COMMIT
ROLLBACK
CHECKPOINT
VACUUM
ANALYZE
PREPARE q AS SELECT COUNT(*) FROM visits
EXECUTE q
DEALLOCATE q
PIVOT visits ON ward USING COUNT(*)
UNPIVOT visits ON age INTO NAME n VALUE v
TABLE visits
VALUES (1)
COMMENT ON TABLE visits IS 'x'
KILL 1
GRANT SELECT ON visits TO me
LISTEN x
DECLARE c CURSOR FOR SELECT 1
DO $$ BEGIN END $$
.tables
\d visits
# --- several statements
SELECT COUNT(*) FROM visits; DROP TABLE visits
SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits
SELECT COUNT(*) FROM visits;; SELECT 1
; SELECT COUNT(*) FROM visits
SELECT COUNT(*) FROM visits; COMMIT
SELECT COUNT(*) FROM visits /* ; */ ; ATTACH 'x'
# --- functions that look outside, change, or fail
SELECT COUNT(*) FROM visits WHERE getenv('HOME') = 'x'
SELECT COUNT(*) FROM visits WHERE current_setting('memory_limit') = 'x'
SELECT COUNT(*) FROM visits WHERE getvariable('x') = 1
SELECT COUNT(*) FROM visits WHERE current_user = 'x'
SELECT COUNT(*) FROM visits WHERE session_user = 'x'
SELECT COUNT(*) FROM visits WHERE current_database() = 'x'
SELECT COUNT(*) FROM visits WHERE current_schema() = 'x'
SELECT COUNT(*) FROM visits WHERE current_schemas(true) IS NULL
SELECT COUNT(*) FROM visits WHERE current_query() = 'x'
SELECT COUNT(*) FROM visits WHERE version() = 'x'
SELECT COUNT(*) FROM visits WHERE txid_current() = 1
SELECT COUNT(*) FROM visits WHERE pg_typeof(age) = 'x'
SELECT COUNT(*) FROM visits WHERE typeof(age) = 'x'
SELECT COUNT(*) FROM visits WHERE random() < 0.5
SELECT COUNT(*) FROM visits WHERE rand() < 0.5
SELECT COUNT(*) FROM visits WHERE setseed(0.5) IS NULL
SELECT COUNT(*) FROM visits WHERE uuid() IS NOT NULL
SELECT COUNT(*) FROM visits WHERE gen_random_uuid() IS NOT NULL
SELECT COUNT(*) FROM visits WHERE uuidv7() IS NOT NULL
SELECT COUNT(*) FROM visits WHERE now() > seen
SELECT COUNT(*) FROM visits WHERE get_current_timestamp() > seen
SELECT COUNT(*) FROM visits WHERE current_timestamp > seen
SELECT COUNT(*) FROM visits WHERE current_date > day
SELECT COUNT(*) FROM visits WHERE today() > day
SELECT COUNT(*) FROM visits WHERE current_time IS NULL
SELECT COUNT(*) FROM visits WHERE localtimestamp > seen
SELECT COUNT(*) FROM visits WHERE transaction_timestamp() > seen
SELECT COUNT(*) FROM visits WHERE age(seen) IS NULL
SELECT COUNT(*) FROM visits WHERE nextval('s') = 1
SELECT COUNT(*) FROM visits WHERE currval('s') = 1
SELECT COUNT(*) FROM visits WHERE error('x') IS NULL
SELECT CASE WHEN COUNT(*) > 5 THEN error('many') END FROM visits
SELECT COUNT(*) FROM visits WHERE CASE WHEN age > 5 THEN error('x') ELSE true END
SELECT COUNT(*) FROM visits WHERE sleep_ms(1000) IS NULL
SELECT COUNT(*) FROM visits WHERE pg_sleep(5) IS NULL
SELECT COUNT(*) FROM visits WHERE write_log('x') IS NULL
SELECT COUNT(*) FROM visits WHERE in_search_path('a', 'b')
SELECT COUNT(*) FROM visits WHERE has_table_privilege('a', 'b')
SELECT COUNT(*) FROM visits WHERE rowid = 1
SELECT COUNT(*) FROM visits WHERE row_number() = 1
SELECT COUNT(*) FROM visits WHERE constant_or_null(1, age) = 1
SELECT COUNT(*) FROM visits WHERE can_cast_implicitly(age, ward)
SELECT COUNT(*) FROM visits WHERE alias(age) = 'x'
SELECT COUNT(*) FROM visits WHERE stats(age) = 'x'
SELECT COUNT(*) FROM visits WHERE vector_type(age) = 'x'
SELECT COUNT(*) FROM visits WHERE hash(age) = 1
SELECT COUNT(*) FROM visits WHERE md5(city) = 'x'
SELECT COUNT(*) FROM visits WHERE sha256(city) = 'x'
SELECT COUNT(*) FROM visits WHERE crypto_hash('md5', city) = 'x'
SELECT COUNT(*) FROM visits WHERE try(age) = 1
SELECT COUNT(*) FROM visits WHERE system.main.lower(city) = 'x'
SELECT COUNT(*) FROM visits WHERE main.lower(city) = 'x'
# --- costly functions
SELECT COUNT(*) FROM visits WHERE repeat(city, 1000000000) = 'x'
SELECT COUNT(*) FROM visits WHERE lpad(city, 1000000000, 'x') = 'x'
SELECT COUNT(*) FROM visits WHERE rpad(city, 1000000000, 'x') = 'x'
SELECT COUNT(*) FROM visits WHERE levenshtein(city, ward) > 1
SELECT COUNT(*) FROM visits WHERE damerau_levenshtein(city, ward) > 1
SELECT COUNT(*) FROM visits WHERE jaccard(city, ward) > 0.5
SELECT COUNT(*) FROM visits WHERE regexp_matches(city, '(a+)+$')
SELECT COUNT(*) FROM visits WHERE regexp_replace(city, 'a', 'b') = 'x'
SELECT COUNT(*) FROM visits WHERE regexp_full_match(city, '(a|a)*')
SELECT COUNT(*) FROM visits WHERE city ~ '(a+)+$'
SELECT COUNT(*) FROM visits WHERE city SIMILAR TO '(a+)+'
SELECT COUNT(*) FROM visits WHERE city GLOB '*'
SELECT COUNT(*) FROM visits WHERE city ~~~ '*'
SELECT COUNT(*) FROM visits WHERE replace(city, 'a', 'aaaaaaaaaa') = 'x'
SELECT COUNT(*) FROM visits WHERE factorial(age) > 1
SELECT COUNT(*) FROM visits WHERE age ** age > 1
SELECT COUNT(*) FROM visits WHERE age ^ 2 > 1
SELECT COUNT(*) FROM visits WHERE pow(age, 1000) > 1
SELECT COUNT(*) FROM visits WHERE age ! > 1
SELECT COUNT(*) FROM visits WHERE age << 60 > 1
SELECT COUNT(*) FROM visits WHERE age & 1 = 1
SELECT COUNT(*) FROM visits WHERE age | 1 = 1
SELECT COUNT(*) FROM visits WHERE ~age = 1
SELECT COUNT(*) FROM visits WHERE xor(age, 1) = 1
SELECT COUNT(*) FROM visits WHERE bit_count(age) = 1
SELECT COUNT(*) FROM visits WHERE age // 0 = 1
SELECT COUNT(*) FROM visits WHERE format('{}', age) = 'x'
SELECT COUNT(*) FROM visits WHERE printf('%1000000000d', age) = 'x'
SELECT COUNT(*) FROM visits WHERE string_split(city, ',') IS NULL
SELECT COUNT(*) FROM visits WHERE city LIKE city
SELECT COUNT(*) FROM visits WHERE city LIKE '%' || ward
SELECT COUNT(*) FROM visits WHERE city LIKE 'a\'
SELECT COUNT(*) FROM visits WHERE city LIKE 'a!%' ESCAPE '!'
SELECT COUNT(*) FROM visits WHERE city LIKE ANY (['a', 'b'])
SELECT COUNT(*) FROM visits WHERE city COLLATE NOCASE = 'x'
# --- lists, structs, maps, lambdas, JSON, bits, enums
SELECT COUNT(*) FROM visits WHERE list_value(age)[1] = 1
SELECT COUNT(*) FROM visits WHERE [age][1] = 1
SELECT COUNT(*) FROM visits WHERE {'a': age}.a = 1
SELECT COUNT(*) FROM visits WHERE struct_pack(a := age).a = 1
SELECT COUNT(*) FROM visits WHERE map([1], [age])[1] = 1
SELECT COUNT(*) FROM visits WHERE MAP {1: age}[1] = 1
SELECT COUNT(*) FROM visits WHERE list_transform([1], x -> x + age) IS NULL
SELECT COUNT(*) FROM visits WHERE list_filter([1], lambda x: x > age) IS NULL
SELECT COUNT(*) FROM visits WHERE [x + 1 FOR x IN [1, 2]] IS NULL
SELECT COUNT(*) FROM visits WHERE list_reduce([1], (x, y) -> x + y) = 1
SELECT COUNT(*) FROM visits WHERE age = ANY ([1, 2])
SELECT COUNT(*) FROM visits WHERE age = ALL ([1, 2])
SELECT COUNT(*) FROM visits WHERE array_contains([1], age)
SELECT COUNT(*) FROM visits WHERE city[1] = 'x'
SELECT COUNT(*) FROM visits WHERE city[1:3] = 'x'
SELECT COUNT(*) FROM visits WHERE json_extract(city, '$.a') = 'x'
SELECT COUNT(*) FROM visits WHERE city -> 'a' = 'x'
SELECT COUNT(*) FROM visits WHERE city ->> '$.a' = 'x'
SELECT COUNT(*) FROM visits WHERE city::JSON IS NULL
SELECT COUNT(*) FROM visits WHERE age::BIT IS NULL
SELECT COUNT(*) FROM visits WHERE city::BLOB IS NULL
SELECT COUNT(*) FROM visits WHERE city::UUID IS NULL
SELECT COUNT(*) FROM visits WHERE age::HUGEINT = 1
SELECT COUNT(*) FROM visits WHERE age::UBIGINT = 1
SELECT COUNT(*) FROM visits WHERE age::DECIMAL(38, 10) = 1
SELECT COUNT(*) FROM visits WHERE age::INTEGER[] IS NULL
SELECT COUNT(*) FROM visits WHERE age::ENUM('a', 'b') IS NULL
SELECT COUNT(*) FROM visits WHERE age::STRUCT(a INTEGER) IS NULL
SELECT COUNT(*) FROM visits WHERE city::my_type IS NULL
SELECT COUNT(*) FROM visits WHERE city::TIMESTAMPTZ IS NULL
SELECT COUNT(*) FROM visits WHERE city::TIME IS NULL
SELECT COUNT(*) FROM visits WHERE city::INTERVAL IS NULL
SELECT COUNT(*) FROM visits WHERE city::regclass IS NULL
SELECT COUNT(*) FROM visits WHERE (age, cost) = (1, 2)
SELECT COUNT(*) FROM visits WHERE (age, cost) IN ((1, 2))
SELECT COUNT(*) FROM visits WHERE ROW(age) = ROW(1)
SELECT COUNT(*) FROM visits WHERE seen AT TIME ZONE 'UTC' IS NULL
SELECT COUNT(*) FROM visits WHERE day + INTERVAL 1 DAY > day
SELECT COUNT(*) FROM visits WHERE day + 1 > day
SELECT COUNT(*) FROM visits WHERE date_trunc('month', day) = day
SELECT COUNT(*) FROM visits WHERE strftime(day, '%Y') = '2024'
SELECT COUNT(*) FROM visits WHERE strptime(city, '%Y') IS NULL
SELECT COUNT(*) FROM visits WHERE epoch(seen) = 1
SELECT COUNT(*) FROM visits WHERE EXTRACT(epoch FROM seen) = 1
SELECT COUNT(*) FROM visits WHERE EXTRACT(microseconds FROM seen) = 1
SELECT COUNT(*) FROM visits WHERE date_diff('second', day, day) = 1
SELECT COUNT(*) FROM visits WHERE x'ab' = city
SELECT COUNT(*) FROM visits WHERE e'\x61' = city
SELECT COUNT(*) FROM visits WHERE $$a$$ = city
SELECT COUNT(*) FROM visits WHERE age = ?
SELECT COUNT(*) FROM visits WHERE age = $1
SELECT COUNT(*) FROM visits WHERE age = $name
SELECT COUNT(*) FROM visits WHERE age = :name
SELECT COUNT(*) FROM visits WHERE #1 = 1
# --- joins, set operations, subqueries, samples
SELECT COUNT(*) FROM visits, visits v
SELECT COUNT(*) FROM visits, others
SELECT COUNT(*) FROM visits CROSS JOIN visits v
SELECT COUNT(*) FROM visits JOIN others ON visits.age = others.age
SELECT COUNT(*) FROM visits JOIN others USING (age)
SELECT COUNT(*) FROM visits NATURAL JOIN others
SELECT COUNT(*) FROM visits LEFT JOIN others ON true
SELECT COUNT(*) FROM visits SEMI JOIN others ON true
SELECT COUNT(*) FROM visits ANTI JOIN others ON true
SELECT COUNT(*) FROM visits ASOF JOIN others ON visits.age >= others.age
SELECT COUNT(*) FROM visits POSITIONAL JOIN others
SELECT COUNT(*) FROM visits, LATERAL (SELECT age)
SELECT COUNT(*) FROM (visits JOIN others ON true)
SELECT COUNT(*) FROM (SELECT * FROM visits, others)
SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits
SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits
SELECT COUNT(*) FROM visits INTERSECT SELECT 1
SELECT COUNT(*) FROM visits EXCEPT SELECT 1
SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits)
SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL BY NAME SELECT * FROM visits)
WITH v AS (SELECT * FROM visits UNION ALL SELECT * FROM visits) SELECT COUNT(*) FROM v
SELECT COUNT(*) FROM visits WHERE age IN (SELECT age FROM visits)
SELECT COUNT(*) FROM visits WHERE age NOT IN (SELECT age FROM visits)
SELECT COUNT(*) FROM visits WHERE age > (SELECT AVG(age) FROM visits)
SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM visits v WHERE v.age = visits.age)
SELECT COUNT(*) FROM visits WHERE NOT EXISTS (SELECT 1)
SELECT COUNT(*) FROM visits WHERE age = ANY (SELECT age FROM visits)
SELECT COUNT(*) FROM visits WHERE age > ALL (SELECT age FROM visits)
SELECT (SELECT COUNT(*) FROM visits) FROM visits
SELECT COUNT(*), (SELECT MAX(age) FROM visits) FROM visits
SELECT COUNT(*) FROM visits HAVING COUNT(*) > (SELECT 5)
SELECT COUNT(*) FROM visits ORDER BY (SELECT age FROM visits LIMIT 1)
SELECT COUNT(*) FROM visits LIMIT (SELECT MAX(age) FROM visits)
SELECT SUM((SELECT age)) FROM visits
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r
WITH RECURSIVE v AS (SELECT * FROM visits) SELECT COUNT(*) FROM v
WITH v AS (SELECT * FROM v) SELECT COUNT(*) FROM v
WITH a AS (SELECT * FROM b), b AS (SELECT * FROM visits) SELECT COUNT(*) FROM a
WITH a AS (SELECT * FROM visits), A AS (SELECT * FROM visits) SELECT COUNT(*) FROM a
WITH a AS (DELETE FROM visits RETURNING *) SELECT COUNT(*) FROM a
WITH a AS (INSERT INTO visits VALUES (1) RETURNING *) SELECT COUNT(*) FROM a
WITH a AS (VALUES (1)) SELECT COUNT(*) FROM a
WITH a AS (SELECT COUNT(*) AS n FROM visits) SELECT SUM(n) FROM a
WITH a AS (SELECT age FROM visits GROUP BY age) SELECT COUNT(*) FROM a
WITH a AS (SELECT DISTINCT age FROM visits) SELECT COUNT(*) FROM a
WITH a AS (SELECT * FROM visits LIMIT 1) SELECT COUNT(*) FROM a
WITH a AS (SELECT * FROM visits ORDER BY cost LIMIT 1) SELECT SUM(age) FROM a
WITH a AS (SELECT * FROM visits OFFSET 5) SELECT COUNT(*) FROM a
WITH a(x) AS (SELECT * FROM visits) SELECT COUNT(*) FROM a
WITH a(x, X) AS (SELECT age, cost FROM visits) SELECT COUNT(*) FROM a
SELECT COUNT(*) FROM visits TABLESAMPLE 10%
SELECT COUNT(*) FROM visits TABLESAMPLE RESERVOIR (10)
SELECT COUNT(*) FROM visits USING SAMPLE 10
SELECT COUNT(*) FROM visits USING SAMPLE 10% (bernoulli, 42)
SELECT COUNT(*) FROM (SELECT * FROM visits USING SAMPLE 1)
SELECT COUNT(*) FROM visits PIVOT (COUNT(*) FOR ward IN ('a', 'b'))
SELECT COUNT(*) FROM (PIVOT visits ON ward USING COUNT(*))
SELECT COUNT(*) FROM visits UNPIVOT (v FOR n IN (age, cost))
SELECT COUNT(*) FROM visits AT (VERSION => 1)
SELECT COUNT(*) FROM ONLY visits
SELECT COUNT(*) FROM visits MATCH_RECOGNIZE (PATTERN (a) DEFINE a AS true)
SELECT COUNT(*) FROM visits FOR UPDATE
SELECT COUNT(*) INTO x FROM visits
SELECT COUNT(*) FROM visits WINDOW w AS (PARTITION BY ward)
# --- windows, other aggregates, ways to show rows
SELECT COUNT(*) OVER () FROM visits
SELECT ROW_NUMBER() OVER (ORDER BY age) FROM visits
SELECT AVG(age) OVER (PARTITION BY ward), COUNT(*) FROM visits
SELECT SUM(COUNT(*)) OVER () FROM visits GROUP BY ward
SELECT LAG(age) OVER (ORDER BY age) FROM visits
SELECT COUNT(*) FROM visits QUALIFY ROW_NUMBER() OVER () = 1
SELECT COUNT(*) FROM (SELECT *, RANK() OVER (ORDER BY age) AS r FROM visits)
SELECT MIN(age) FROM visits
SELECT MAX(age) FROM visits
SELECT ARG_MAX(city, age) FROM visits
SELECT ARG_MIN(city, age) FROM visits
SELECT MAX_BY(city, age) FROM visits
SELECT FIRST(city) FROM visits
SELECT LAST(city) FROM visits
SELECT ANY_VALUE(city) FROM visits
SELECT ARBITRARY(city) FROM visits
SELECT LIST(city) FROM visits
SELECT ARRAY_AGG(city) FROM visits
SELECT STRING_AGG(city, ',') FROM visits
SELECT GROUP_CONCAT(city) FROM visits
SELECT LISTAGG(city, ',') FROM visits
SELECT HISTOGRAM(age) FROM visits
SELECT MODE(city) FROM visits
SELECT ENTROPY(city) FROM visits
SELECT APPROX_COUNT_DISTINCT(city) FROM visits
SELECT APPROX_QUANTILE(age, 0.5) FROM visits
SELECT APPROX_TOP_K(city, 3) FROM visits
SELECT RESERVOIR_QUANTILE(age, 0.5) FROM visits
SELECT QUANTILE_DISC(age, 0.5) FROM visits
SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY age) FROM visits
SELECT QUANTILE_CONT(age, [0.1, 0.9]) FROM visits
SELECT QUANTILE_CONT(age, 1.5) FROM visits
SELECT QUANTILE_CONT(age, -0.5) FROM visits
SELECT QUANTILE_CONT(age, cost) FROM visits
SELECT QUANTILE_CONT(age) FROM visits
SELECT PERCENTILE_CONT(0.5) FROM visits
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age, cost) FROM visits
SELECT PERCENTILE_CONT(0.5, 0.6) WITHIN GROUP (ORDER BY age) FROM visits
SELECT MEDIAN(city) FROM visits
SELECT MEDIAN(free) FROM visits
SELECT MAD(age) FROM visits
SELECT CORR(age, cost) FROM visits
SELECT COVAR_POP(age, cost) FROM visits
SELECT REGR_SLOPE(age, cost) FROM visits
SELECT SKEWNESS(age) FROM visits
SELECT KURTOSIS(age) FROM visits
SELECT VAR_SAMP(age) FROM visits
SELECT STDDEV_SAMP(age) FROM visits
SELECT SEM(age) FROM visits
SELECT PRODUCT(age) FROM visits
SELECT GEOMEAN(age) FROM visits
SELECT FSUM(cost) FROM visits
SELECT KAHAN_SUM(cost) FROM visits
SELECT FAVG(cost) FROM visits
SELECT BIT_XOR(age) FROM visits
SELECT BIT_OR(age) FROM visits
SELECT BOOL_AND(urgent) FROM visits
SELECT BOOL_OR(urgent) FROM visits
SELECT CHECKSUM(age) FROM visits
SELECT GROUPING(ward), COUNT(*) FROM visits GROUP BY ward
SELECT COUNT() FROM visits
SELECT COUNT(DISTINCT) FROM visits
SELECT SUM() FROM visits
SELECT AVG(*) FROM visits
SELECT COUNT(visits.*) FROM visits
SELECT COUNT(age, cost) FROM visits
SELECT COUNT(DISTINCT city) FROM visits
SELECT COUNT(DISTINCT *) FROM visits
SELECT COUNT(DISTINCT patient_id, city) FROM visits
SELECT COUNT(DISTINCT patient_id + 0) FROM visits
SELECT COUNT(DISTINCT patient_id) FILTER (WHERE urgent) FROM visits
SELECT COUNT(DISTINCT CASE WHEN urgent THEN patient_id END) FROM visits
SELECT SUM(DISTINCT age) FROM visits
SELECT AVG(DISTINCT cost) FROM visits
SELECT SUM(age ORDER BY cost) FROM visits
SELECT SUM(city) FROM visits
SELECT AVG(day) FROM visits
SELECT SUM(free) FROM visits
SELECT AVG(free) FROM visits
SELECT SUM(EXP(cost)) FROM visits
SELECT SUM(SQRT(free)) FROM visits
SELECT AVG(LN(cost)) FROM visits
SELECT AVG(LN(free)) FROM visits
SELECT MEDIAN(YEAR(day)) FROM visits
SELECT AVG(DATE_DIFF('day', day, DATE '2024-01-01')) FROM visits
SELECT AVG(d) FROM (SELECT 2 * YEAR(day) - 1 AS d FROM visits)
SELECT SUM(1 / cost) FROM visits
SELECT SUM(patient_id) FROM visits
SELECT SUM(CAST(city AS INTEGER)) FROM visits
SELECT SUM(CASE WHEN urgent THEN free ELSE 0 END) FROM visits
SELECT SUM(free) FROM visits WHERE free BETWEEN 0 AND 1
SELECT SUM(SUM(age)) FROM visits
SELECT SUM(age) FILTER (WHERE COUNT(*) > 1) FROM visits
SELECT COUNT(*) FROM visits WHERE COUNT(*) > 1
SELECT COUNT(*) FROM visits GROUP BY COUNT(*)
SELECT COUNT(COLUMNS(*)) FROM visits
SELECT COUNT(COLUMNS('a.*')) FROM visits
SELECT COLUMNS(*), COUNT(*) FROM visits
SELECT * FROM visits
SELECT visits.* FROM visits
SELECT * EXCLUDE (age) FROM visits
SELECT * REPLACE (1 AS age) FROM visits
SELECT *, COUNT(*) FROM visits
SELECT age FROM visits
SELECT age, COUNT(*) FROM visits
SELECT 1 FROM visits
SELECT 1
SELECT COUNT(*)
FROM visits
FROM visits SELECT age
SELECT DISTINCT ward FROM visits
SELECT DISTINCT COUNT(*) FROM visits GROUP BY ward
SELECT DISTINCT ON (ward) COUNT(*) FROM visits GROUP BY ward
SELECT ward FROM visits GROUP BY ward
SELECT ward FROM visits GROUP BY ALL
SELECT ward, COUNT(*) FROM visits GROUP BY ALL
SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)
SELECT ward, COUNT(*) FROM visits GROUP BY CUBE (ward)
SELECT ward, COUNT(*) FROM visits GROUP BY GROUPING SETS ((ward), ())
SELECT ward, COUNT(*) FROM visits GROUP BY (ward, age)
SELECT ward, COUNT(*) FROM visits GROUP BY 3
SELECT ward, COUNT(*) FROM visits GROUP BY 0
SELECT ward, COUNT(*) FROM visits GROUP BY 2
SELECT ward, COUNT(*) FROM visits GROUP BY 1.5
SELECT ward, COUNT(*) FROM visits GROUP BY 'ward'
SELECT cost, COUNT(*) FROM visits GROUP BY cost
SELECT COUNT(*) FROM visits GROUP BY ward HAVING age > 3
SELECT COUNT(*) FROM visits HAVING COUNT(*)
SELECT COUNT(*) FROM visits ORDER BY age
SELECT COUNT(*) FROM visits ORDER BY ALL
SELECT COUNT(*) FROM visits ORDER BY 7
SELECT COUNT(*) AS n FROM visits ORDER BY n NULLS FIRST
SELECT COUNT(*) AS n FROM visits ORDER BY n COLLATE NOCASE
SELECT COUNT(*) FROM visits LIMIT 10%
SELECT COUNT(*) FROM visits LIMIT 10 PERCENT
SELECT COUNT(*) FROM visits LIMIT ALL
SELECT COUNT(*) FROM visits LIMIT -1
SELECT COUNT(*) FROM visits LIMIT 1 + 1
SELECT COUNT(*) FROM visits LIMIT 1.5
SELECT COUNT(*) FROM visits LIMIT 'a'
SELECT COUNT(*) FROM visits LIMIT 5 OFFSET 2
SELECT COUNT(*) FROM visits FETCH FIRST 3 ROWS ONLY
SELECT TOP 5 COUNT(*) FROM visits
SELECT AS STRUCT COUNT(*) FROM visits
SELECT COUNT(*) AS n, SUM(age) AS N FROM visits
SELECT COUNT(*), COUNT(*) FROM visits
SELECT COUNT(*) AS "a" FROM visits GROUP BY
# --- names
SELECT COUNT(*) FROM visit
SELECT COUNT(*) FROM others
SELECT COUNT(*) FROM vіsits
SELECT COUNT(*) FROM ｖｉｓｉｔｓ
SELECT COUNT(agе) FROM visits
SELECT COUNT(аge) FROM visits
SELECT ＣＯＵＮＴ(*) FROM visits
SELECT COUNT（*） FROM visits
SELECT COUNT(*) FROM visits WHERE ward = ‘a’
SELECT COUNT(*) FROM visits WHERE age ≥ 3
SELECT COUNT(*) FROM visits；DROP TABLE visits
SELECT COUNT(*) FROM visits WHERE other.age = 1
SELECT COUNT(*) FROM visits v WHERE visits.age = 1
SELECT COUNT(*) FROM visits WHERE main.visits.age = 1
SELECT COUNT(*) FROM visits WHERE visits.age.x = 1
SELECT COUNT(*) AS n FROM visits WHERE n > 1
SELECT COUNT(*) FROM visits WHERE "AGE " = 1
SELECT COUNT(*) FROM visits WHERE `age` = 1
SELECT COUNT(*) FROM visits WHERE [age] = 1
SELECT COUNT(*) FROM visits WHERE ''
SELECT COUNT(*) FROM visits WHERE 1
SELECT COUNT(*) FROM visits WHERE NULL
SELECT COUNT(*) FROM visits WHERE age
SELECT COUNT(*) FROM visits WHERE ward
SELECT COUNT(NULL) FROM visits
SELECT NULL, COUNT(*) FROM visits
SELECT COUNT(*) FROM visits WHERE age = 'a'
SELECT COUNT(*) FROM visits WHERE ward > 1
SELECT COUNT(*) FROM visits WHERE day > 'yesterday'
SELECT COUNT(*) FROM visits WHERE day > '2024-02-30'
SELECT COUNT(*) FROM visits WHERE day = DATE '2024-13-01'
SELECT COUNT(*) FROM visits WHERE age IN ('a')
SELECT COUNT(*) FROM visits WHERE age IN (1, NULL)
SELECT COUNT(*) FROM visits WHERE age IN ()
SELECT COUNT(*) FROM visits WHERE CASE WHEN urgent THEN 1 ELSE 'a' END = 1
SELECT COUNT(*) FROM visits WHERE COALESCE(age, 'x') = 1
SELECT COUNT(*) FROM visits WHERE age + 9223372036854775807 > 0
SELECT COUNT(*) FROM visits WHERE age > 99999999999999999999
SELECT COUNT(*) FROM visits WHERE cost > 1e999
SELECT COUNT(*) FROM visits WHERE cost > 'NaN'::DOUBLE + 'x'
SELECT COUNT(*) FROM visits WHERE patient_id + 1 > 0
SELECT COUNT(*) FROM visits WHERE patient_id * patient_id > 0
SELECT COUNT(*) FROM visits WHERE SUBSTRING(city, age, 2) = 'x'
SELECT COUNT(*) FROM visits WHERE SUBSTRING(city, -1, 2) = 'x'
SELECT COUNT(*) FROM visits WHERE LEFT(city, -1) = 'x'
SELECT COUNT(*) FROM visits WHERE TRIM('x' FROM city) = 'x'
SELECT COUNT(*) FROM visits WHERE LTRIM(city) = 'x'
SELECT COUNT(*) FROM visits WHERE ROUND(cost, 20) = 1
SELECT COUNT(*) FROM visits WHERE ROUND(cost, -1) = 1
SELECT COUNT(*) FROM visits WHERE ROUND(cost, age) = 1
SELECT COUNT(*) FROM visits WHERE FLOOR(free) = 1
SELECT COUNT(*) FROM visits WHERE LOG(cost) > 1
SELECT COUNT(*) FROM visits WHERE age IS DISTINCT FROM 1
SELECT COUNT(*) FROM visits WHERE age IS 5
SELECT COUNT(*) FROM visits WHERE age BETWEEN SYMMETRIC 1 AND 2
# --- comments, hints and quotes that hide something
SELECT/**/MAX(age)/**/FROM/**/visits
SELECT COUNT(*) FROM visits /* a */ UNION /* b */ SELECT 1
SELECT COUNT(*) FROM visits /* /* nested */ */ ; DROP TABLE visits
SELECT COUNT(*) FROM/* visits */read_csv('x')
SELECT COUNT(*) /* FROM visits */
SELECT COUNT(*) FROM "visits; DROP TABLE visits"
SELECT COUNT(*) FROM "visits"""
SELECT COUNT(*) FROM "visits" WHERE "age"" OR ""1"" = ""1" = 1
SELECT COUNT("age') --") FROM visits
SELECT COUNT(*) FROM visits WHERE ward = 'a' AND pragma_version() = '--'
SELECT COUNT(*) FROM visits WHERE city = 'x'::query('SELECT 1')
SELECT COUNT(*) FROM query($$SELECT 1$$)
SELECT COUNT(*) FROM (SELECT * FROM query_table('visits'))
WITH v AS (FROM read_csv('x')) SELECT COUNT(*) FROM v
WITH v AS (SELECT * FROM query('FROM visits')) SELECT COUNT(*) FROM v
SELECT COUNT(*) FROM visits WHERE json_execute_serialized_sql(json_serialize_sql('FROM visits')) IS NULL
SELECT COUNT(*) FROM visits WHERE age IN (FROM visits SELECT age)
SELECT COUNT(*) FILTER (WHERE age > (SELECT 1)) FROM visits
SELECT SUM(CASE WHEN error('x') THEN 1 ELSE 0 END) FROM visits
SELECT ward, COUNT(*) FROM visits GROUP BY ward, error(ward)
SELECT COUNT(*) FROM visits ORDER BY random()
SELECT COUNT(*) FROM visits HAVING error('x')
SELECT COUNT(*) FROM visits WHERE age > 1 LIMIT getenv('HOME')
# --- not even SQL
hello
SELECT
SELECT COUNT(*) FROM
SELECT COUNT(*) FROM visits WHERE
SELECT COUNT(*) FROM visits WHERE (age > 1
SELECT COUNT(*) FROM visits WHERE age > 1)
SELECT COUNT(*) FROM visits WHERE 'a
SELECT COUNT(*) FROM visits WHERE "a
SELECT COUNT(* FROM visits
SELECT COUNT(*) visits FROM
SELECT COUNT(*) FROM visits /*
SELECT COUNT(*) FROM visits GROUP ward
SELECT COUNT(*) WHERE age > 1 FROM visits
SELECT COUNT(*),, FROM visits
SELECT COUNT(*,) FROM visits
SELECT COUNT(*) FROM visits,
SELECT COUNT(*) FROM visits WHERE urgent IS FALSE,
SELECT FROM visits
SELEC COUNT(*) FROM visits
{}
()
(())
'
--
/* only a comment */
# --- FROM first, and other orders of clauses
FROM visits WHERE age > 3 SELECT COUNT(*)
WITH v AS (FROM read_csv('data.csv')) SELECT COUNT(*) FROM v
FROM 'data.csv'
FROM visits AS v, others SELECT COUNT(*)
FROM visits LIMIT 1
FROM visits |> SELECT COUNT(*)
FROM visits |> AGGREGATE COUNT(*) GROUP BY ward
SELECT n: COUNT(*) FROM visits, others
# --- SUMMARIZE, DESCRIBE, SHOW
SELECT COUNT(*) FROM (SUMMARIZE visits)
SELECT max FROM (SUMMARIZE visits)
SELECT COUNT(*) FROM (SUMMARIZE SELECT age FROM visits)
WITH s AS (SUMMARIZE visits) SELECT COUNT(*) FROM s
SUMMARIZE 'data.csv'
SUMMARIZE TABLE visits
SELECT COUNT(*) FROM (DESCRIBE visits)
SELECT COUNT(*) FROM (SHOW TABLES)
SELECT COUNT(*) FROM (SHOW ALL TABLES)
SHOW DATABASES
# --- PIVOT and UNPIVOT
PIVOT visits ON ward USING SUM(age) GROUP BY city
PIVOT visits ON city IN ('a', 'b') USING COUNT(*)
WITH p AS (PIVOT visits ON ward USING COUNT(*)) SELECT COUNT(*) FROM p
SELECT COUNT(*) FROM visits PIVOT (COUNT(*) FOR ward IN ('a'))
UNPIVOT visits ON COLUMNS(*) INTO NAME n VALUE v
PIVOT_WIDER visits ON ward USING COUNT(*)
PIVOT_LONGER visits ON age INTO NAME n VALUE v
# --- lambdas and lists
SELECT COUNT(*) FROM visits WHERE list_transform([age], lambda x: x + 1)[1] = 2
SELECT COUNT(*) FROM visits WHERE list_reduce([1, age], lambda x, y: x + y) = 2
SELECT COUNT(*) FROM visits WHERE [x + 1 FOR x IN [age]][1] = 2
SELECT COUNT(*) FROM visits WHERE list_sort([age], lambda x: x) IS NULL
SELECT SUM(list_aggregate([age], 'sum')) FROM visits
SELECT COUNT(*) FROM visits WHERE apply([age], x -> error('x')) IS NULL
SELECT LIST(age ORDER BY age) FROM visits
SELECT COUNT(*) FROM visits WHERE age IN (SELECT unnest(range(100000000)))
SELECT COUNT(*) FROM visits WHERE list_contains([1, 2], age)
# --- COLUMNS and stars
SELECT COUNT(*) FROM visits WHERE COLUMNS(*) IS NOT NULL
SELECT SUM(COLUMNS(c -> c LIKE 'a%')) FROM visits
SELECT COALESCE(*COLUMNS(*)), COUNT(*) FROM visits
SELECT MIN(COLUMNS(* EXCLUDE (city))) FROM visits
SELECT * LIKE 'a%' FROM visits
SELECT COUNT(*) FROM visits GROUP BY ALL
SELECT ward, COUNT(*) FROM visits GROUP BY COLUMNS('ward')
SELECT COUNT(visits) FROM visits
SELECT visits FROM visits
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ALL
# --- variables and settings
SELECT getvariable('age'), COUNT(*) FROM visits
SELECT COUNT(*) FROM visits WHERE age = getvariable('age')
SELECT COUNT(*) FROM visits LIMIT getvariable('n')
SET VARIABLE x = (SELECT COUNT(*) FROM visits)
RESET VARIABLE x
SELECT COUNT(*) FROM visits WHERE current_setting('threads') = '1'
SELECT COUNT(*) FROM visits WHERE which_secret('x', 's3') IS NULL
SET SESSION threads = 1
SET GLOBAL enable_external_access = true
RESET enable_external_access
# --- files
SELECT COUNT(*) FROM read_text('*')
SELECT content FROM read_text(['/etc/passwd', '/etc/group'])
SELECT COUNT(*) FROM read_blob('data.csv')
SELECT COUNT(*) FROM glob('/etc/*')
SELECT COUNT(*) FROM visits WHERE age = (SELECT COUNT(*) FROM glob('*'))
SELECT COUNT(*) FROM visits WHERE city IN (SELECT file FROM glob('*'))
SELECT COUNT(*) FROM "data.csv"
SELECT COUNT(*) FROM read_ndjson_objects('data.json')
SELECT COUNT(*) FROM postgres_scan('', 'public', 't')
SELECT COUNT(*) FROM iceberg_scan('x')
SELECT COUNT(*) FROM delta_scan('x')
SELECT COUNT(*) FROM read_xlsx('x.xlsx')
SELECT COUNT(*) FROM st_read('x')
COPY (SELECT * FROM visits) TO 'x.csv'
EXPORT DATABASE 'x'
IMPORT DATABASE 'x'
# --- databases
ATTACH ':memory:'
ATTACH ':memory:' AS m
ATTACH OR REPLACE ':memory:' AS m (ENCRYPTION_KEY 'x')
ATTACH IF NOT EXISTS 'x.db' (TYPE sqlite)
ATTACH 'ducklake:x' AS lake
DETACH DATABASE IF EXISTS m
USE memory
SELECT COUNT(*) FROM system.main.duckdb_settings()
CREATE SECRET s (TYPE s3)
CREATE PERSISTENT SECRET s (TYPE s3, KEY_ID 'x')
INSTALL httpfs FROM 'https://example.org'
# --- SQL/JSON
SELECT JSON_OBJECT('a': age) FROM visits
SELECT JSON_ARRAYAGG(age) FROM visits
SELECT JSON_OBJECTAGG(city: age) FROM visits
SELECT COUNT(*) FROM visits WHERE JSON_EXISTS(city, '$.a')
SELECT COUNT(*) FROM visits WHERE JSON_VALUE(city, '$.a') = 'x'
SELECT COUNT(*) FROM visits WHERE JSON_QUERY(city, '$') IS NULL
SELECT COUNT(*) FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$'))
SELECT COUNT(*) FROM visits WHERE city IS JSON
SELECT COUNT(*) FROM visits WHERE city -> '$.a' IS NULL
SELECT COUNT(*) FROM visits WHERE json_transform(city, '{"a": "INT"}') IS NULL
SELECT json_group_array(age) FROM visits
SELECT COUNT(*) FROM json_each('[1]')
# --- macros, prepared statements, parameters
CREATE MACRO f() AS TABLE SELECT * FROM visits
CREATE TEMP FUNCTION f(a) AS (SELECT MAX(age) FROM visits)
CREATE OR REPLACE MACRO count(x) AS x
SELECT f(1), COUNT(*) FROM visits
SELECT COUNT(*) FROM f(visits)
PREPARE q AS SELECT COUNT(*) FROM visits WHERE age = $1
PREPARE q AS DELETE FROM visits
EXECUTE q(1)
EXECUTE q(n := 1)
EXECUTE IMMEDIATE 'SELECT 1'
CALL duckdb_functions()
SELECT COUNT(*) FROM visits WHERE age = $age
SELECT COUNT(*) FROM visits WHERE age = :age
SELECT COUNT(*) FROM visits WHERE age = %s
SELECT COUNT(*) FROM IDENTIFIER('visits')
SELECT COUNT(*) FROM visits LIMIT ?
# --- joins that only DuckDB has, samples, QUALIFY
SELECT COUNT(*) FROM visits POSITIONAL JOIN visits AS other
SELECT COUNT(*) FROM (SELECT * FROM visits POSITIONAL JOIN others)
SELECT COUNT(*) FROM visits SEMI JOIN others USING (age)
SELECT COUNT(*) FROM visits ANTI JOIN others USING (age)
SELECT COUNT(*) FROM visits ASOF LEFT JOIN visits AS v ON visits.age >= v.age
SELECT COUNT(*) FROM visits NATURAL JOIN visits AS v
SELECT COUNT(*) FROM visits CROSS JOIN LATERAL (SELECT age) AS v
SELECT COUNT(*) FROM visits JOIN visits AS v ON true
SELECT COUNT(*) FROM visits TABLESAMPLE SYSTEM (1%)
SELECT COUNT(*) FROM visits TABLESAMPLE BERNOULLI (50 PERCENT) REPEATABLE (1)
SELECT COUNT(*) FROM (SELECT * FROM visits TABLESAMPLE 10%)
SELECT COUNT(*) FROM (SELECT * FROM visits USING SAMPLE 1 ROWS)
SELECT COUNT(*) FROM visits USING SAMPLE reservoir(1 ROWS) REPEATABLE (1)
SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (ORDER BY age) = 1)
SELECT ward, COUNT(*) FROM visits GROUP BY ward QUALIFY RANK() OVER (ORDER BY COUNT(*)) = 1
WITH v AS (SELECT * FROM visits QUALIFY COUNT(*) OVER () > 1) SELECT COUNT(*) FROM v
SELECT COUNT(*) FROM visits FOR SYSTEM_TIME AS OF 1
SELECT COUNT(*) FROM visits WITH ORDINALITY
WITH RECURSIVE r(n) USING KEY (n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT COUNT(*) FROM r
# --- ways to write a text
SELECT COUNT(*) FROM visits WHERE city = U&'\0061'
SELECT COUNT(*) FROM visits WHERE city = U&'d!0061t' UESCAPE '!'
SELECT COUNT(*) FROM U&"vis\0069ts"
SELECT COUNT(*) FROM visits WHERE city = E'\x61'
SELECT COUNT(*) FROM visits WHERE city = e'a\'b'
SELECT COUNT(*) FROM visits WHERE city = x'61'
SELECT COUNT(*) FROM visits WHERE city = b'01'
SELECT COUNT(*) FROM visits WHERE city = N'a'
SELECT COUNT(*) FROM visits WHERE city = $tag$ ' OR 1 = 1 $tag$
SELECT COUNT(*) FROM visits WHERE city = $$a$$ UNION SELECT 1
SELECT COUNT(*) FROM visits WHERE city = $é$a$é$
SELECT COUNT(*) FROM visits WHERE city = 'a' 'b' FROM others
SELECT COUNT(*) FROM visits WHERE city = '\xF0\x9F'::BLOB
SELECT COUNT(*) FROM visits WHERE city = chr(0x110000)
SELECT COUNT(*) FROM visits WHERE city COLLATE NOCASE = 'a'
SELECT COUNT(*) FROM visits WHERE age = 0x1F_
SELECT COUNT(*) FROM visits WHERE age = 1_000_
SELECT COUNT(*) FROM `visits`
SELECT COUNT(*) FROM [visits]
