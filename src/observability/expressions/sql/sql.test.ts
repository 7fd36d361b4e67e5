import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExpressionRows, openExpressionRows, SCOPE } from '../../../../test/support/expression-rows.ts';
import { ExpressionError, pointAt } from '../expression-error.ts';
import { createWriter } from '../writer.ts';
import { parseCondition, parseValue } from './sql.ts';

type Example = [text: string, sql: string, parameters: unknown[], matching: number[]];

/** The generated SQL, its parameters and the ids of the matching rows. */
const EXAMPLES: Example[] = [
  ["ServiceName = 'api'", '(`ServiceName` = {p1:String})', ['api'], [1]],
  ["ServiceName == 'api'", '(`ServiceName` = {p1:String})', ['api'], [1]],
  ["ServiceName != 'api'", '(`ServiceName` != {p1:String})', ['api'], [2, 3, 4]],
  ["ServiceName <> 'api'", '(`ServiceName` != {p1:String})', ['api'], [2, 3, 4]],
  ["`ServiceName` = 'api'", '(`ServiceName` = {p1:String})', ['api'], [1]],
  ['"ServiceName" = \'api\'', '(`ServiceName` = {p1:String})', ['api'], [1]],
  ["ServiceName > 'b'", '(`ServiceName` > {p1:String})', ['b'], [3]],
  [
    'SeverityNumber = 17 AND Duration < 100',
    '((`SeverityNumber` = {p1:UInt8}) AND (`Duration` < {p2:UInt8}))',
    [17, 100],
    [3],
  ],
  [
    'SeverityNumber = 9 OR SeverityNumber = 17 AND Duration < 100',
    '((`SeverityNumber` = {p1:UInt8}) OR ((`SeverityNumber` = {p2:UInt8}) AND (`Duration` < {p3:UInt8})))',
    [9, 17, 100],
    [2, 3],
  ],
  [
    '(SeverityNumber = 9 OR SeverityNumber = 17) AND Duration < 100',
    '(((`SeverityNumber` = {p1:UInt8}) OR (`SeverityNumber` = {p2:UInt8})) AND (`Duration` < {p3:UInt8}))',
    [9, 17, 100],
    [3],
  ],
  ['NOT SeverityNumber = 17', '(NOT (`SeverityNumber` = {p1:UInt8}))', [17], [2, 4]],
  [
    'NOT SeverityNumber = 17 AND Duration = 1500',
    '((NOT (`SeverityNumber` = {p1:UInt8})) AND (`Duration` = {p2:UInt16}))',
    [17, 1500],
    [2],
  ],
  [
    'NOT (SeverityNumber = 17 OR Duration = 1500)',
    '(NOT ((`SeverityNumber` = {p1:UInt8}) OR (`Duration` = {p2:UInt16})))',
    [17, 1500],
    [4],
  ],
  ['Duration * 2 + 10 >= 1010', '(((`Duration` * {p1:UInt8}) + {p2:UInt8}) >= {p3:UInt16})', [2, 10, 1010], [1, 2]],
  ['Duration - 20 * 2 = 460', '((`Duration` - ({p1:UInt8} * {p2:UInt8})) = {p3:UInt16})', [20, 2, 460], [1]],
  ['(Duration - 20) * 2 = 960', '(((`Duration` - {p1:UInt8}) * {p2:UInt8}) = {p3:UInt16})', [20, 2, 960], [1]],
  ['-Value > 1', '((-`Value`) > {p1:UInt8})', [1], [2]],
  ['Value = -2', '(`Value` = {p1:Int8})', [-2], [2]],
  ['Value = - 2.0e0', '(`Value` = {p1:Int8})', [-2], [2]],
  ['Value * -1 = 2', '((`Value` * {p1:Int8}) = {p2:UInt8})', [-1, 2], [2]],
  ['Duration % 1000 = 500', '((`Duration` % {p1:UInt16}) = {p2:UInt16})', [1000, 500], [1, 2]],
  ['Duration / 0 > 1', '((`Duration` / {p1:UInt8}) > {p2:UInt8})', [0, 1], [1, 2, 3, 4]],
  ['Duration % SeverityNumber = 0', '((`Duration` % nullIf(`SeverityNumber`, {p1:UInt8})) = {p1:UInt8})', [0], []],
  ['Duration = 18446744073709551615', '(`Duration` = {p1:UInt64})', ['18446744073709551615'], [4]],
  ["Duration = '500'", '(`Duration` = {p1:UInt16})', [500], [1]],
  ['500 = Duration', '({p1:UInt16} = `Duration`)', [500], [1]],
  ["Body LIKE 'Conn%'", '(`Body` LIKE {p1:String})', ['Conn%'], [1]],
  ["Body LIKE 'conn%'", '(`Body` LIKE {p1:String})', ['conn%'], [2]],
  ["Body ILIKE 'conn%'", '(`Body` ILIKE {p1:String})', ['conn%'], [1, 2]],
  ["Body NOT ILIKE 'conn%'", '(NOT (`Body` ILIKE {p1:String}))', ['conn%'], [3, 4]],
  ["Body LIKE '%100\\%%'", '(`Body` LIKE {p1:String})', ['%100\\%%'], [2]],
  ["Body LIKE '%user\\_id%'", '(`Body` LIKE {p1:String})', ['%user\\_id%'], [3]],
  ["Body LIKE '%:\\\\\\\\temp%'", '(`Body` LIKE {p1:String})', ['%:\\\\temp%'], [4]],
  ['Body LIKE \'%"quoted"%\'', '(`Body` LIKE {p1:String})', ['%"quoted"%'], [2]],
  [
    "LogAttributes['http.method'] = 'it''s'",
    '(`LogAttributes`[{p1:String}] = {p2:String})',
    ['http.method', "it's"],
    [4],
  ],
  [
    "LogAttributes['http.method'] = 'it\\'s'",
    '(`LogAttributes`[{p1:String}] = {p2:String})',
    ['http.method', "it's"],
    [4],
  ],
  [
    "LogAttributes['http.status'] = 500",
    '(toFloat64OrNull(`LogAttributes`[{p1:String}]) = {p2:UInt16})',
    ['http.status', 500],
    [1],
  ],
  ["LogAttributes['http.status'] = '500'", '(`LogAttributes`[{p1:String}] = {p2:String})', ['http.status', '500'], [1]],
  [
    "LogAttributes['http.status'] > 99",
    '(toFloat64OrNull(`LogAttributes`[{p1:String}]) > {p2:UInt8})',
    ['http.status', 99],
    [1, 2, 3],
  ],
  [
    "LogAttributes['http.status'] > '99'",
    '(`LogAttributes`[{p1:String}] > {p2:String})',
    ['http.status', '99'],
    [3, 4],
  ],
  [
    'LogAttributes.http.status > 499',
    '(toFloat64OrNull(`LogAttributes`[{p1:String}]) > {p2:UInt16})',
    ['http.status', 499],
    [1, 2],
  ],
  [
    "LogAttributes.`user-agent` LIKE 'curl%'",
    '(`LogAttributes`[{p1:String}] LIKE {p2:String})',
    ['user-agent', 'curl%'],
    [1],
  ],
  [
    "LogAttributes['ratio'] = 1000",
    '(toFloat64OrNull(`LogAttributes`[{p1:String}]) = {p2:UInt16})',
    ['ratio', 1000],
    [3],
  ],
  [
    "500 <= LogAttributes['http.status']",
    '({p1:UInt16} <= toFloat64OrNull(`LogAttributes`[{p2:String}]))',
    [500, 'http.status'],
    [1, 2],
  ],
  [
    "LogAttributes['http.status'] * 2 > 999",
    '((toFloat64OrNull(`LogAttributes`[{p1:String}]) * {p2:UInt8}) > {p3:UInt16})',
    ['http.status', 2, 999],
    [1, 2],
  ],
  [
    "LogAttributes['http.status'] > Duration",
    '(toFloat64OrNull(`LogAttributes`[{p1:String}]) > `Duration`)',
    ['http.status'],
    [3],
  ],
  [
    "NOT LogAttributes['http.status'] > 500",
    '(NOT (toFloat64OrNull(`LogAttributes`[{p1:String}]) > {p2:UInt16}))',
    ['http.status', 500],
    [1, 3],
  ],
  [
    "LogAttributes['http.status'] IN (500, 99.5)",
    '(toFloat64OrNull(`LogAttributes`[{p1:String}]) IN {p2:Array(Float64)})',
    ['http.status', [500, 99.5]],
    [1, 3],
  ],
  [
    "LogAttributes['http.status'] IN ('500', '99')",
    '(`LogAttributes`[{p1:String}] IN {p2:Array(String)})',
    ['http.status', ['500', '99']],
    [1],
  ],
  [
    "LogAttributes['http.status'] BETWEEN 99 AND 500",
    '(toFloat64OrNull(`LogAttributes`[{p1:String}]) BETWEEN {p2:UInt8} AND {p3:UInt16})',
    ['http.status', 99, 500],
    [1, 3],
  ],
  [
    "LogAttributes['http.status'] NOT BETWEEN 99 AND 500",
    '(NOT (toFloat64OrNull(`LogAttributes`[{p1:String}]) BETWEEN {p2:UInt8} AND {p3:UInt16}))',
    ['http.status', 99, 500],
    [2],
  ],
  ["LogAttributes['empty'] = ''", '(`LogAttributes`[{p1:String}] = {p2:String})', ['empty', ''], [1, 2, 3, 4]],
  ["LogAttributes['empty'] IS NOT NULL", 'mapContains(`LogAttributes`, {p1:String})', ['empty'], [3]],
  ["LogAttributes['http.method'] IS NULL", '(NOT mapContains(`LogAttributes`, {p1:String}))', ['http.method'], [3]],
  ["mapContains(LogAttributes, 'path')", 'mapContains(`LogAttributes`, {p1:String})', ['path'], [2]],
  ["LogAttributes['nope'] = true", '(`LogAttributes`[{p1:String}] = {p2:String})', ['nope', 'true'], []],
  [
    "ResourceAttributes['k8s.pod.name'] IN ('api-1')",
    '(`ResourceAttributes`[{p1:String}] IN {p2:Array(String)})',
    ['k8s.pod.name', ['api-1']],
    [1],
  ],
  ["Counters['hits'] = 3", '(`Counters`[{p1:String}] = {p2:UInt8})', ['hits', 3], [1]],
  ['SeverityNumber IN (9, 0)', '(`SeverityNumber` IN {p1:Array(Int64)})', [[9, 0]], [2, 4]],
  ['SeverityNumber NOT IN (9, 0)', '(NOT (`SeverityNumber` IN {p1:Array(Int64)}))', [[9, 0]], [1, 3]],
  ['Value IN (-2, 1.5)', '(`Value` IN {p1:Array(Float64)})', [[-2, 1.5]], [1, 2]],
  [
    "ServiceName IN ('api', 'worker', 'it''s')",
    '(`ServiceName` IN {p1:Array(String)})',
    [['api', 'worker', "it's"]],
    [1, 3],
  ],
  ['IsError IN (true)', '(`IsError` IN (true))', [], [1, 3]],
  [
    "Timestamp IN ('2026-11-16 00:00:00')",
    "(`Timestamp` = {p1:DateTime64(9, 'UTC')})",
    ['2026-11-16 00:00:00.000000000'],
    [3],
  ],
  [
    "Day IN ('2026-11-16', '2026-11-17')",
    "((`Day` = {p1:DateTime64(9, 'UTC')}) OR (`Day` = {p2:DateTime64(9, 'UTC')}))",
    ['2026-11-16 00:00:00.000000000', '2026-11-17 00:00:00.000000000'],
    [3, 4],
  ],
  [
    "Timestamp NOT IN ('2026-11-16', '2026-11-17T08:30:00Z')",
    "(NOT ((`Timestamp` = {p1:DateTime64(9, 'UTC')}) OR (`Timestamp` = {p2:DateTime64(9, 'UTC')})))",
    ['2026-11-16 00:00:00.000000000', '2026-11-17 08:30:00.000000000'],
    [1, 2],
  ],
  ['IsError IN (true, false)', '(`IsError` IN (true, false))', [], [1, 2, 3, 4]],
  [
    "toDate(Timestamp) = '2026-11-15'",
    "(toDate(`Timestamp`) = {p1:DateTime64(9, 'UTC')})",
    ['2026-11-15 00:00:00.000000000'],
    [1, 2],
  ],
  ["SeverityNumber IN ('9', '0')", '(`SeverityNumber` IN {p1:Array(Int64)})', [[9, 0]], [2, 4]],
  ['Note IS NULL', 'isNull(`Note`)', [], [3, 4]],
  ['Note IS NOT NULL', 'isNotNull(`Note`)', [], [1, 2]],
  ["Note = ''", '(`Note` = {p1:String})', [''], [2]],
  ["Note != 'first'", '(`Note` != {p1:String})', ['first'], [2]],
  ["NOT Note = 'first'", '(NOT (`Note` = {p1:String}))', ['first'], [2]],
  ['Score > 0 IS NULL', 'isNull((`Score` > {p1:UInt8}))', [0], [3]],
  ['Score BETWEEN -1 AND 0', '(`Score` BETWEEN {p1:Int8} AND {p2:UInt8})', [-1, 0], [2, 4]],
  ['coalesce(Score, -5) = -5', '(coalesce(toFloat64(`Score`), {p1:Int8}) = {p1:Int8})', [-5], [3]],
  ['IsError', '`IsError`', [], [1, 3]],
  ['NOT IsError', '(NOT `IsError`)', [], [2, 4]],
  ['IsError = true', '(`IsError` = true)', [], [1, 3]],
  ['IsError = 1', '(`IsError` = {p1:UInt8})', [1], [1, 3]],
  ["IsError = 'false'", '(`IsError` = false)', [], [2, 4]],
  ['SeverityNumber', '(`SeverityNumber` != {p1:UInt8})', [0], [1, 2, 3]],
  ['1', '({p1:UInt8} != {p2:UInt8})', [1, 0], [1, 2, 3, 4]],
  ['false', 'false', [], []],
  ['true OR false', '(true OR false)', [], [1, 2, 3, 4]],
  ["Level = 'warn'", '(toString(`Level`) = {p1:String})', ['warn'], [1]],
  ["Level = 'unheard of'", '(toString(`Level`) = {p1:String})', ['unheard of'], []],
  ["Level IN ('warn', 'x')", '(toString(`Level`) IN {p1:Array(String)})', [['warn', 'x']], [1]],
  [
    "Timestamp >= '2026-11-16'",
    "(`Timestamp` >= {p1:DateTime64(9, 'UTC')})",
    ['2026-11-16 00:00:00.000000000'],
    [3, 4],
  ],
  [
    "Timestamp > '2026-11-15 12:00:00'",
    "(`Timestamp` > {p1:DateTime64(9, 'UTC')})",
    ['2026-11-15 12:00:00.000000000'],
    [2, 3, 4],
  ],
  [
    "Timestamp = '2026-11-15T23:59:59.5Z'",
    "(`Timestamp` = {p1:DateTime64(9, 'UTC')})",
    ['2026-11-15 23:59:59.500000000'],
    [2],
  ],
  [
    "Timestamp BETWEEN '2026-11-15 13:00:00+01:00' AND '2026-11-16 00:00:00'",
    "(`Timestamp` BETWEEN {p1:DateTime64(9, 'UTC')} AND {p2:DateTime64(9, 'UTC')})",
    ['2026-11-15 12:00:00.000000000', '2026-11-16 00:00:00.000000000'],
    [1, 2, 3],
  ],
  ['Timestamp < now() + INTERVAL 10 YEARS', '(`Timestamp` < (now() + toIntervalYear({p1:UInt8})))', [10], [1, 2, 3, 4]],
  [
    "Seconds - INTERVAL 1 DAY >= '2026-11-15'",
    "((`Seconds` - toIntervalDay({p1:UInt8})) >= {p2:DateTime64(9, 'UTC')})",
    [1, '2026-11-15 00:00:00.000000000'],
    [3, 4],
  ],
  ['toHour(Timestamp) = 12', '(toHour(`Timestamp`) = {p1:UInt8})', [12], [1]],
  ["Day = '2026-11-15'", "(`Day` = {p1:DateTime64(9, 'UTC')})", ['2026-11-15 00:00:00.000000000'], [1, 2]],
  [
    "toStartOfHour(Timestamp) = '2026-11-17 08:00:00'",
    "(toStartOfHour(`Timestamp`) = {p1:DateTime64(9, 'UTC')})",
    ['2026-11-17 08:00:00.000000000'],
    [4],
  ],
  ["Events.Name[1] = 'exception'", '(`Events.Name`[{p1:UInt8}] = {p2:String})', [1, 'exception'], [1]],
  ["has(Events.Name, 'start')", 'has(`Events.Name`, {p1:String})', ['start'], [2]],
  [
    "Events.Attributes[2]['count'] > 10",
    '(toFloat64OrNull(`Events.Attributes`[{p1:UInt8}][{p2:String}]) > {p3:UInt8})',
    [2, 'count', 10],
    [1],
  ],
  ['length(Buckets) > 1', '(length(`Buckets`) > {p1:UInt8})', [1], [1]],
  ['Buckets[-1] = 300', '(`Buckets`[{p1:Int8}] = {p2:UInt16})', [-1, 300], [1]],
  ["`Events.Name`[1] = 'start'", '(`Events.Name`[{p1:UInt8}] = {p2:String})', [1, 'start'], [2]],
  [
    "CASE WHEN Duration > 1000 THEN 'slow' WHEN Duration > 100 THEN 'fair' ELSE 'fast' END = 'fair'",
    '(multiIf((`Duration` > {p1:UInt16}), {p2:String}, (`Duration` > {p3:UInt8}), {p4:String}, {p5:String}) = {p4:String})',
    [1000, 'slow', 100, 'fair', 'fast'],
    [1],
  ],
  [
    "CASE ServiceName WHEN 'api' THEN 1 ELSE 0 END",
    '(if((`ServiceName` = {p1:String}), {p2:UInt8}, {p3:UInt8}) != {p3:UInt8})',
    ['api', 1, 0],
    [1],
  ],
  ['if(IsError, Duration, 0) > 100', '(if(`IsError`, toFloat64(`Duration`), {p1:UInt8}) > {p2:UInt8})', [0, 100], [1]],
  ["match(Body, '(?i)größe|REFUSED')", 'match(`Body`, {p1:String})', ['(?i)größe|REFUSED'], [1, 4]],
  [
    "lower(ServiceName) = 'api' AND length(Body) > 10",
    '((lower(`ServiceName`) = {p1:String}) AND (length(`Body`) > {p2:UInt8}))',
    ['api', 10],
    [1],
  ],
  ["concat(ServiceName, '!') = 'api!'", '(concat(`ServiceName`, {p1:String}) = {p2:String})', ['!', 'api!'], [1]],
  ["ServiceName || '!' = 'api!'", '(concat(`ServiceName`, {p1:String}) = {p2:String})', ['!', 'api!'], [1]],
  ['  IsError\n\tAND  Duration=20 ', '(`IsError` AND (`Duration` = {p1:UInt8}))', [20], [3]],
  ['Duration = 20 = true', '((`Duration` = {p1:UInt8}) = true)', [20], [3]],
];

const REJECTED: [text: string, message: string][] = [
  ['Body', 'Expected a condition, such as a comparison, at character 1: "▸Body"'],
  ['ServiceName = ', 'A value is missing at the end, at character 15: "ServiceName = ▸"'],
  ['= 5', 'A value is missing here, at character 1: "▸= 5"'],
  ['ServiceName', 'Expected a condition, such as a comparison, at character 1: "▸ServiceName"'],
  ['Timestamp', 'Expected a condition, such as a comparison, at character 1: "▸Timestamp"'],
  ['NULL', 'Expected a condition, such as a comparison, at character 1: "▸NULL"'],
  ['Body = NULL', 'Nothing equals NULL; use IS NULL or IS NOT NULL, at character 8: "Body = ▸NULL"'],
  ["body = 'x'", 'Unknown column "body"; did you mean "Body"?, at character 1: "▸body = \'x\'"'],
  ["OrganizationId = 'theirs'", 'Unknown column "OrganizationId", at character 1: "▸OrganizationId = \'theirs …"'],
  ["logs.OrganizationId = 'x'", 'Unknown column "logs.OrganizationId", at character 1: "▸logs.OrganizationId = \'x …"'],
  ["t.Body = 'x'", 'Unknown column "t.Body"; did you mean "Body"?, at character 1: "▸t.Body = \'x\'"'],
  ["Bdoy = 'x'", 'Unknown column "Bdoy"; did you mean "Body"?, at character 1: "▸Bdoy = \'x\'"'],
  ["Body = 'x", 'The closing \' is missing, at character 8: "Body = ▸\'x"'],
  ["Body = 'x' AND", 'A value is missing at the end, at character 15: "Body = \'x\' AND▸"'],
  ["Body = 'x' extra", '"extra" is not allowed here, at character 12: "Body = \'x\' ▸extra"'],
  ["Body = 'x' 'y'", "An operator such as = or AND is missing before this, at character 12: \"Body = 'x' ▸'y'\""],
  ["Body AS x = 'y'", 'Aliases are not allowed, at character 6: "Body ▸AS x = \'y\'"'],
  ["(Body = 'x'", '")" is missing at the end, at character 12: "(Body = \'x\'▸"'],
  ["Body = 'x')", '")" is not allowed here, at character 11: "Body = \'x\'▸)"'],
  ['()', 'A value is missing here, at character 2: "(▸)"'],
  ['(1, 2) = (1, 2)', '"," is not allowed here, at character 3: "(1▸, 2) = (1, 2)"'],
  ['[1, 2]', 'A value is missing here, at character 1: "▸[1, 2]"'],
  ['Body IN ()', 'IN expects a list of quoted strings or numbers, at character 10: "Body IN (▸)"'],
  ['Body IN (Body)', 'IN expects a list of quoted strings or numbers, at character 10: "Body IN (▸Body)"'],
  ['Body IN (NULL)', 'IN expects a list of quoted strings or numbers, at character 10: "Body IN (▸NULL)"'],
  [
    "Body IN (1, 'a')",
    'This is compared with a number, so it must be a number, at character 13: "Body IN (1, ▸\'a\')"',
  ],
  ['Body IN (SELECT 1)', 'Sub-selects are not allowed, at character 10: "Body IN (▸SELECT 1)"'],
  ['Body LIKE Body', 'LIKE expects a quoted pattern, at character 11: "Body LIKE ▸Body"'],
  ["Duration LIKE '5'", 'LIKE only compares strings, at character 1: "▸Duration LIKE \'5\'"'],
  ["Body LIKE 'a\\\\'", 'A pattern cannot end in a single backslash, at character 11: "Body LIKE ▸\'a\\\\\'"'],
  [
    "Duration = 'fast'",
    'This is compared with a number, so it must be a number, at character 12: "Duration = ▸\'fast\'"',
  ],
  [
    "Timestamp = 'yesterday'",
    "This is compared with a time; write it as '2026-11-15 12:00:00', at character 13: \"Timestamp = ▸'yesterday'\"",
  ],
  ['Timestamp > 5', 'A number cannot be compared with a time, at character 13: "Timestamp > ▸5"'],
  [
    "IsError = 'maybe'",
    'This is compared with a boolean, so it must be true or false, at character 11: "IsError = ▸\'maybe\'"',
  ],
  ['Timestamp = Body', 'A string cannot be compared with a time, at character 13: "Timestamp = ▸Body"'],
  [
    "Events.Name = 'x'",
    'Only strings, numbers, times and booleans can be compared, at character 1: "▸Events.Name = \'x\'"',
  ],
  [
    "LogAttributes = 'x'",
    'Only strings, numbers, times and booleans can be compared, at character 1: "▸LogAttributes = \'x\'"',
  ],
  [
    "LogAttributes[1] = 'x'",
    "The key of a map is a quoted string, such as ['http.method'], at character 15: \"LogAttributes[▸1] = 'x'\"",
  ],
  [
    "LogAttributes[Body] = 'x'",
    "The key of a map is a quoted string, such as ['http.method'], at character 15: \"LogAttributes[▸Body] = 'x'\"",
  ],
  ["Body['x'] = 'y'", "Only maps and arrays can be indexed, at character 6: \"Body[▸'x'] = 'y'\""],
  ["Body.x = 'y'", 'Unknown column "Body.x"; only maps have attributes, at character 1: "▸Body.x = \'y\'"'],
  ['Buckets[0] = 1', 'arrayElement expects a whole number other than 0 here, at character 9: "Buckets[▸0] = 1"'],
  ["Buckets['x'] = 1", 'arrayElement expects a whole number other than 0 here, at character 9: "Buckets[▸\'x\'] = 1"'],
  ["lower(5) = 'x'", 'lower expects a string here, at character 7: "lower(▸5) = \'x\'"'],
  ["lower() = 'x'", '"lower" takes 1 value, at character 1: "▸lower() = \'x\'"'],
  ["lower(Body, Body) = 'x'", '"lower" takes 1 value, at character 13: "lower(Body, ▸Body) = \'x\'"'],
  ['sleep(1)', 'The function "sleep" is not allowed, at character 1: "▸sleep(1)"'],
  ['count() > 1', 'The function "count" is not allowed, at character 1: "▸count() > 1"'],
  [
    "lowr(Body) = 'x'",
    'The function "lowr" is not allowed; did you mean lower?, at character 1: "▸lowr(Body) = \'x\'"',
  ],
  [
    'toFloat64(Timestamp) > 1',
    'toFloat64 expects a string or a number; for a time use toUnixTimestamp, at character 11: "toFloat64(▸Timestamp) > 1"',
  ],
  [
    'match(Body, ServiceName)',
    'match expects a quoted RE2 pattern of 1 to 1000 characters, without look-around and back-references here, at character 13: "match(Body, ▸ServiceName)"',
  ],
  [
    "match(Body, '(?=x)')",
    'match expects a quoted RE2 pattern of 1 to 1000 characters, without look-around and back-references here, at character 13: "match(Body, ▸\'(?=x)\')"',
  ],
  ["if(IsError, 1, 'a') = 1", 'if expects results of one kind, at character 16: "if(IsError, 1, ▸\'a\') = 1"'],
  [
    'if(IsError, NULL, NULL) = 1',
    'if expects at least one result that is not NULL, at character 13: "if(IsError, ▸NULL, NULL) = 1"',
  ],
  [
    'Timestamp + 1 > Timestamp',
    'Only an interval can be added to a time, such as INTERVAL 1 HOUR; see also dateDiff, at character 13: "Timestamp + ▸1 > Timestamp"',
  ],
  [
    'Timestamp - Timestamp > 1',
    'Only an interval can be added to a time, such as INTERVAL 1 HOUR; see also dateDiff, at character 13: "Timestamp - ▸Timestamp > 1"',
  ],
  [
    'INTERVAL 1 FORTNIGHT',
    'A unit is one of second, minute, hour, day, week, month, quarter, year, at character 12: "INTERVAL 1 ▸FORTNIGHT"',
  ],
  ['CASE WHEN IsError THEN 1', 'END is missing at the end, at character 25: "CASE WHEN IsError THEN 1▸"'],
  ['CASE END = 1', 'A value is missing before END, at character 6: "CASE ▸END = 1"'],
  ['1abc = 1', 'A number has digits, a point and an exponent only, at character 1: "▸1abc = 1"'],
  ['0x1F = 31', 'A number has digits, a point and an exponent only, at character 1: "▸0x1F = 31"'],
  ['1e999 > 1', 'This number is too large, at character 1: "▸1e999 > 1"'],
  ['1 = 1; DROP TABLE logs', 'Only one expression is allowed, at character 6: "1 = 1▸; DROP TABLE logs"'],
  ['1 = 1 -- x', 'Comments are not allowed, at character 7: "1 = 1 ▸-- x"'],
  ['1 = 1 /* x */', 'Comments are not allowed, at character 7: "1 = 1 ▸/* x */"'],
  ['1 = 1 # x', 'Comments are not allowed, at character 7: "1 = 1 ▸# x"'],
  ["{x:String} = 'y'", 'Parameters are not allowed; write the value, at character 1: "▸{x:String} = \'y\'"'],
  [
    "Body::String = 'x'",
    'Casts with :: are not allowed; use a function such as toFloat64OrNull, at character 5: "Body▸::String = \'x\'"',
  ],
  ['x -> x', 'Lambdas are not allowed, at character 3: "x ▸-> x"'],
  ['@@version = 1', 'Variables are not allowed, at character 1: "▸@@version = 1"'],
  ['$x = 1', 'The character $ is not allowed here, at character 1: "▸$x = 1"'],
  ['Body = ‘x’', 'The character U+2018 is only allowed between quotes, at character 8: "Body = ▸‘x’"'],
  ["Body\u00a0= 'x'", 'The character U+00A0 is only allowed between quotes, at character 5: "Body▸ = \'x\'"'],
  ["Ｂody = 'x'", 'The character U+FF22 is only allowed between quotes, at character 1: "▸Ｂody = \'x\'"'],
  ['`` = 1', 'A name is missing between the quotes, at character 1: "▸`` = 1"'],
  ["Body = '\\0'", 'NUL characters are not allowed, at character 9: "Body = \'▸\\0\'"'],
  ["Body = '\\xff'", 'A \\x escape has two hexadecimal digits, from 01 to 7F, at character 9: "Body = \'▸\\xff\'"'],
  ['NOT', 'A value is missing at the end, at character 4: "NOT▸"'],
  ["Body NOT = 'x'", '"=" is not allowed here, at character 10: "Body NOT ▸= \'x\'"'],
  ['Body IS TRUE', '"TRUE" is not allowed here, at character 9: "Body IS ▸TRUE"'],
  ['a.b.c = 1', 'Unknown column "a.b.c", at character 1: "▸a.b.c = 1"'],
  ['toHour(Day) = 1', 'toHour expects a time that has hours here, at character 8: "toHour(▸Day) = 1"'],
  ["toYear(Day, 'UTC') = 2026", 'toYear of a date has no time zone, at character 13: "toYear(Day, ▸\'UTC\') = 2026"'],
  ['has(Events.Name, 5)', 'has expects a string here, at character 18: "has(Events.Name, ▸5)"'],
  [
    "toDate(Timestamp) IN ('2026-11-15', '2026-11-16')",
    'IN with times needs a column; compare with each time instead, at character 1: "▸toDate(Timestamp) IN (\'2 …"',
  ],
  ['`a\nb` = 1', 'Unknown column "a b", at character 1: "▸`a b` = 1"'],
];

describe('SQL', () => {
  let rows: ExpressionRows;
  beforeAll(() => {
    rows = openExpressionRows();
  });
  afterAll(() => rows.close());

  it.each(EXAMPLES)('compiles %s', (text, sql, parameters, matching) => {
    const writer = createWriter();
    const condition = parseCondition(text, SCOPE);
    expect(condition && writer.write(condition)).toBe(sql);
    expect(Object.values(writer.parameters)).toEqual(parameters);
    expect(rows.matching(condition)).toEqual(matching);
  });

  it.each(['', '  ', '\n\t'])('treats blank input (%j) as no condition', (text) => {
    expect(parseCondition(text, SCOPE)).toBeUndefined();
    expect(rows.matching(parseCondition(text, SCOPE))).toEqual([1, 2, 3, 4]);
  });

  it.each(REJECTED)('rejects %s', (text, message) => {
    expect(getErrorMessage(text)).toBe(message);
  });

  it.each(['', ' '])('rejects a blank value (%j)', (text) => {
    expect(() => parseValue(text, SCOPE)).toThrow('An expression is missing');
  });
});

function getErrorMessage(text: string): string {
  try {
    parseCondition(text, SCOPE);
  } catch (error) {
    if (error instanceof ExpressionError) return `${error.message}, ${pointAt(text, error)}`;
    throw error;
  }
  return 'none';
}
