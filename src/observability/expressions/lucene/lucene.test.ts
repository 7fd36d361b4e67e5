import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExpressionRows, openExpressionRows, SCOPE } from '../../../../test/support/expression-rows.ts';
import { ExpressionError, pointAt } from '../expression-error.ts';
import { createWriter } from '../writer.ts';
import { parseLucene } from './lucene.ts';

type Example = [text: string, sql: string, parameters: unknown[], matching: number[]];

/** The generated SQL, its parameters and the ids of the matching rows. */
const EXAMPLES: Example[] = [
  ['refused', 'hasToken(lower(`Body`), {p1:String})', ['refused'], [1]],
  ['REFUSED', 'hasToken(lower(`Body`), {p1:String})', ['refused'], [1]],
  ['refus', 'hasToken(lower(`Body`), {p1:String})', ['refus'], []],
  ['error', 'hasToken(lower(`Body`), {p1:String})', ['error'], [3]],
  ['errors', 'hasToken(lower(`Body`), {p1:String})', ['errors'], [4]],
  [
    'host-7',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}) AND (lower(`Body`) LIKE {p3:String}))',
    ['host', '7', '%host-7%'],
    [1],
  ],
  ['host', 'hasToken(lower(`Body`), {p1:String})', ['host'], [1]],
  [
    'ost-7',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}) AND (lower(`Body`) LIKE {p3:String}))',
    ['ost', '7', '%ost-7%'],
    [],
  ],
  [
    'user_id',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}) AND (lower(`Body`) LIKE {p3:String}))',
    ['user', 'id', '%user\\_id%'],
    [3],
  ],
  [
    'user_id=42',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}) AND hasToken(lower(`Body`), {p3:String}) AND (lower(`Body`) LIKE {p4:String}))',
    ['user', 'id', '42', '%user\\_id=42%'],
    [3],
  ],
  [
    'user_id=4',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}) AND hasToken(lower(`Body`), {p3:String}) AND (lower(`Body`) LIKE {p4:String}))',
    ['user', 'id', '4', '%user\\_id=4%'],
    [],
  ],
  ['größe', 'hasToken(lowerUTF8(`Body`), {p1:String})', ['größe'], [4]],
  ['GRÖSSE', 'hasToken(lowerUTF8(`Body`), {p1:String})', ['grösse'], []],
  ['GRÖßE', 'hasToken(lowerUTF8(`Body`), {p1:String})', ['größe'], [4]],
  ['日本語', 'hasToken(lowerUTF8(`Body`), {p1:String})', ['日本語'], [4]],
  ['100%', '(hasToken(lower(`Body`), {p1:String}) AND (lower(`Body`) LIKE {p2:String}))', ['100', '%100\\%%'], [2]],
  ['%', '(lower(`Body`) LIKE {p1:String})', ['%\\%%'], [2]],
  ['_', '(lower(`Body`) LIKE {p1:String})', ['%\\_%'], [3]],
  ['"the database"', '(lower(`Body`) LIKE {p1:String})', ['%the database%'], [2]],
  ['"THE DATA"', '(lower(`Body`) LIKE {p1:String})', ['%the data%'], [2]],
  ['"100% done"', '(lower(`Body`) LIKE {p1:String})', ['%100\\% done%'], [2]],
  ['"connected\\nto"', '(lower(`Body`) LIKE {p1:String})', ['%connectednto%'], []],
  ['"\\"quoted\\""', '(lower(`Body`) LIKE {p1:String})', ['%"quoted"%'], [2]],
  ['"C:\\\\temp"', '(lower(`Body`) LIKE {p1:String})', ['%c:\\\\temp%'], [4]],
  [
    'C\\:\\\\temp',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}) AND (lower(`Body`) LIKE {p3:String}))',
    ['c', 'temp', '%c:\\\\temp%'],
    [4],
  ],
  [
    'http://example.com/a?b=1',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}) AND hasToken(lower(`Body`), {p3:String}) AND hasToken(lower(`Body`), {p4:String}) AND hasToken(lower(`Body`), {p5:String}) AND hasToken(lower(`Body`), {p6:String}) AND (lower(`Body`) LIKE {p7:String}))',
    ['http', 'example', 'com', 'a', 'b', '1', '%http://example.com/a?b=1%'],
    [3],
  ],
  [
    'localhost:3000',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}) AND (lower(`Body`) LIKE {p3:String}))',
    ['localhost', '3000', '%localhost:3000%'],
    [4],
  ],
  [
    'localhost:300',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}) AND (lower(`Body`) LIKE {p3:String}))',
    ['localhost', '300', '%localhost:300%'],
    [],
  ],
  [
    'db.internal:5432',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}) AND hasToken(lower(`Body`), {p3:String}) AND (lower(`Body`) LIKE {p4:String}))',
    ['db', 'internal', '5432', '%db.internal:5432%'],
    [],
  ],
  ['::1', '(hasToken(lower(`Body`), {p1:String}) AND (lower(`Body`) LIKE {p2:String}))', ['1', '%::1%'], []],
  [
    'not found',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}))',
    ['not', 'found'],
    [3],
  ],
  ['and', 'hasToken(lower(`Body`), {p1:String})', ['and'], []],
  ['or not', '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}))', ['or', 'not'], []],
  ['not', 'hasToken(lower(`Body`), {p1:String})', ['not'], [3]],
  ['err*', 'match(`Body`, {p1:String})', ['(?i)(?:^|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])err'], [3, 4]],
  ['*ror', 'match(`Body`, {p1:String})', ['(?i)ror(?:$|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])'], [3]],
  ['*rror*', '(lower(`Body`) LIKE {p1:String})', ['%rror%'], [3, 4]],
  ['conn*', 'match(`Body`, {p1:String})', ['(?i)(?:^|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])conn'], [1, 2]],
  [
    'ref?sed',
    'match(`Body`, {p1:String})',
    [
      '(?i)(?:^|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])ref[0-9A-Za-z\\x{80}-\\x{10FFFF}]sed(?:$|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])',
    ],
    [1],
  ],
  [
    '?ost',
    'match(`Body`, {p1:String})',
    ['(?i)(?:^|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])[0-9A-Za-z\\x{80}-\\x{10FFFF}]ost(?:$|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])'],
    [1],
  ],
  [
    'r*d',
    'match(`Body`, {p1:String})',
    ['(?i)(?:^|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])r[0-9A-Za-z\\x{80}-\\x{10FFFF}]*d(?:$|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])'],
    [1],
  ],
  [
    'host-?',
    'match(`Body`, {p1:String})',
    [
      '(?i)(?:^|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])host\\x{2d}[0-9A-Za-z\\x{80}-\\x{10FFFF}](?:$|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])',
    ],
    [1],
  ],
  ['grö*', 'match(`Body`, {p1:String})', ['(?i)(?:^|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])grö'], [4]],
  ['*', 'true', [], [1, 2, 3, 4]],
  [
    'conn*ed',
    'match(`Body`, {p1:String})',
    [
      '(?i)(?:^|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])conn[0-9A-Za-z\\x{80}-\\x{10FFFF}]*ed(?:$|[^0-9A-Za-z\\x{80}-\\x{10FFFF}])',
    ],
    [2],
  ],
  ['ServiceName:api', '(lower(`ServiceName`) LIKE {p1:String})', ['%api%'], [1, 2]],
  ['ServiceName:"api"', '(`ServiceName` = {p1:String})', ['api'], [1]],
  ['ServiceName:"API"', '(`ServiceName` = {p1:String})', ['API'], []],
  ['ServiceName:API*', '(lower(`ServiceName`) LIKE {p1:String})', ['api%'], [1, 2]],
  ['ServiceName:*API', '(lower(`ServiceName`) LIKE {p1:String})', ['%api'], [1]],
  ['ServiceName:*gate*', '(lower(`ServiceName`) LIKE {p1:String})', ['%gate%'], [2]],
  ['ServiceName:w?rker', '(lower(`ServiceName`) LIKE {p1:String})', ['w_rker'], [3]],
  ['ServiceName:w?rker*', '(lower(`ServiceName`) LIKE {p1:String})', ['w_rker%'], [3, 4]],
  ['ServiceName:worker_', '(lower(`ServiceName`) LIKE {p1:String})', ['%worker\\_%'], [4]],
  ['ServiceName:worker_*', '(lower(`ServiceName`) LIKE {p1:String})', ['worker\\_%'], [4]],
  ['ServiceName:wor*er', '(lower(`ServiceName`) LIKE {p1:String})', ['wor%er'], [3]],
  ['ServiceName:*', 'notEmpty(`ServiceName`)', [], [1, 2, 3, 4]],
  ['Note:*', 'notEmpty(`Note`)', [], [1]],
  ['-Note:*', '(NOT coalesce(notEmpty(`Note`), false))', [], [2, 3, 4]],
  ['Note:""', '(`Note` = {p1:String})', [''], [2]],
  ['Body:100%', '(lower(`Body`) LIKE {p1:String})', ['%100\\%%'], [2]],
  ['Body:connected*done*', '(lower(`Body`) LIKE {p1:String})', ['connected%done%'], [2]],
  ['ServiceName:"a*"', '(`ServiceName` = {p1:String})', ['a*'], []],
  ['ServiceName:a\\*', '(lower(`ServiceName`) LIKE {p1:String})', ['%a*%'], []],
  ['SeverityNumber:17', '(`SeverityNumber` = {p1:UInt8})', [17], [1, 3]],
  ['SeverityNumber:"17"', '(`SeverityNumber` = {p1:UInt8})', [17], [1, 3]],
  ['SeverityNumber:1*', '(lower(toString(`SeverityNumber`)) LIKE {p1:String})', ['1%'], [1, 3]],
  ['Value:-2', '(`Value` = {p1:Int8})', [-2], [2]],
  ['Value:1.5', '(`Value` = {p1:Float64})', [1.5], [1]],
  ['Duration:18446744073709551615', '(`Duration` = {p1:UInt64})', ['18446744073709551615'], [4]],
  ['Duration:>=500', '(`Duration` >= {p1:UInt16})', [500], [1, 2, 4]],
  ['Duration:>500', '(`Duration` > {p1:UInt16})', [500], [2, 4]],
  ['Duration:<= 500', '(`Duration` <= {p1:UInt16})', [500], [1, 3]],
  ['Duration:<500', '(`Duration` < {p1:UInt16})', [500], [3]],
  ['Duration:[20 TO 500]', '((`Duration` >= {p1:UInt8}) AND (`Duration` <= {p2:UInt16}))', [20, 500], [1, 3]],
  ['Duration:{20 TO 500]', '((`Duration` > {p1:UInt8}) AND (`Duration` <= {p2:UInt16}))', [20, 500], [1]],
  ['Duration:[20 TO 500}', '((`Duration` >= {p1:UInt8}) AND (`Duration` < {p2:UInt16}))', [20, 500], [3]],
  ['Duration:{20 TO 500}', '((`Duration` > {p1:UInt8}) AND (`Duration` < {p2:UInt16}))', [20, 500], []],
  ['Duration:[500 TO *]', '(`Duration` >= {p1:UInt16})', [500], [1, 2, 4]],
  ['Duration:[* TO 500}', '(`Duration` < {p1:UInt16})', [500], [3]],
  ['Duration:[* TO *]', 'true', [], [1, 2, 3, 4]],
  ['Score:*', 'isNotNull(`Score`)', [], [1, 2, 4]],
  ['Score:[* TO *]', 'isNotNull(`Score`)', [], [1, 2, 4]],
  ['-Score:>0', '(NOT coalesce((`Score` > {p1:UInt8}), false))', [0], [2, 3, 4]],
  ['Score:-1', '(`Score` = {p1:Int8})', [-1], [2]],
  ['Score:(-1 OR 7)', '((`Score` = {p1:Int8}) OR (`Score` = {p2:UInt8}))', [-1, 7], [1, 2]],
  ['IsError:true', '(`IsError` = true)', [], [1, 3]],
  ['IsError:0', '(`IsError` = false)', [], [2, 4]],
  ['-IsError:true', '(NOT (`IsError` = true))', [], [2, 4]],
  ['Level:warn', '(lower(toString(`Level`)) LIKE {p1:String})', ['%warn%'], [1]],
  ['Level:"info"', '(toString(`Level`) = {p1:String})', ['info'], [2, 3, 4]],
  [
    'Timestamp:2026-11-15',
    "((`Timestamp` >= {p1:DateTime64(9, 'UTC')}) AND (`Timestamp` < {p2:DateTime64(9, 'UTC')}))",
    ['2026-11-15 00:00:00.000000000', '2026-11-16 00:00:00.000000000'],
    [1, 2],
  ],
  ['Timestamp:>2026-11-15', "(`Timestamp` >= {p1:DateTime64(9, 'UTC')})", ['2026-11-16 00:00:00.000000000'], [3, 4]],
  ['Timestamp:<=2026-11-15', "(`Timestamp` < {p1:DateTime64(9, 'UTC')})", ['2026-11-16 00:00:00.000000000'], [1, 2]],
  ['Timestamp:<2026-11-16', "(`Timestamp` < {p1:DateTime64(9, 'UTC')})", ['2026-11-16 00:00:00.000000000'], [1, 2]],
  ['Timestamp:>=2026-11-16', "(`Timestamp` >= {p1:DateTime64(9, 'UTC')})", ['2026-11-16 00:00:00.000000000'], [3, 4]],
  [
    'Timestamp:>2026-11-15T12:00:00Z',
    "(`Timestamp` > {p1:DateTime64(9, 'UTC')})",
    ['2026-11-15 12:00:00.000000000'],
    [2, 3, 4],
  ],
  [
    'Timestamp:>=2026-11-15T13:00:00+01:00',
    "(`Timestamp` >= {p1:DateTime64(9, 'UTC')})",
    ['2026-11-15 12:00:00.000000000'],
    [1, 2, 3, 4],
  ],
  [
    'Timestamp:"2026-11-15 23:59:59.5"',
    "(`Timestamp` = {p1:DateTime64(9, 'UTC')})",
    ['2026-11-15 23:59:59.500000000'],
    [2],
  ],
  [
    'Timestamp:[2026-11-15 TO 2026-11-16]',
    "((`Timestamp` >= {p1:DateTime64(9, 'UTC')}) AND (`Timestamp` < {p2:DateTime64(9, 'UTC')}))",
    ['2026-11-15 00:00:00.000000000', '2026-11-17 00:00:00.000000000'],
    [1, 2, 3],
  ],
  [
    'Timestamp:{2026-11-15 TO 2026-11-17}',
    "((`Timestamp` >= {p1:DateTime64(9, 'UTC')}) AND (`Timestamp` < {p2:DateTime64(9, 'UTC')}))",
    ['2026-11-16 00:00:00.000000000', '2026-11-17 00:00:00.000000000'],
    [3],
  ],
  [
    'Timestamp:[2026-11-15T20:00:00Z TO *]',
    "(`Timestamp` >= {p1:DateTime64(9, 'UTC')})",
    ['2026-11-15 20:00:00.000000000'],
    [2, 3, 4],
  ],
  [
    'Day:2026-11-15',
    "((`Day` >= {p1:DateTime64(9, 'UTC')}) AND (`Day` < {p2:DateTime64(9, 'UTC')}))",
    ['2026-11-15 00:00:00.000000000', '2026-11-16 00:00:00.000000000'],
    [1, 2],
  ],
  ['Seconds:>2026-11-16', "(`Seconds` >= {p1:DateTime64(9, 'UTC')})", ['2026-11-17 00:00:00.000000000'], [4]],
  [
    'LogAttributes.http.status:500',
    'coalesce((toFloat64OrNull(`LogAttributes`[{p1:String}]) = {p2:UInt16}), (lower(`LogAttributes`[{p1:String}]) LIKE {p3:String}))',
    ['http.status', 500, '%500%'],
    [1],
  ],
  [
    'LogAttributes.http.status:500.0',
    'coalesce((toFloat64OrNull(`LogAttributes`[{p1:String}]) = {p2:UInt16}), (lower(`LogAttributes`[{p1:String}]) LIKE {p3:String}))',
    ['http.status', 500, '%500.0%'],
    [1],
  ],
  ['LogAttributes.http.status:"500"', '(`LogAttributes`[{p1:String}] = {p2:String})', ['http.status', '500'], [1]],
  [
    'LogAttributes.http.status:>=500',
    '(toFloat64OrNull(`LogAttributes`[{p1:String}]) >= {p2:UInt16})',
    ['http.status', 500],
    [1, 2],
  ],
  [
    'LogAttributes.http.status:<100',
    '(toFloat64OrNull(`LogAttributes`[{p1:String}]) < {p2:UInt8})',
    ['http.status', 100],
    [3],
  ],
  [
    'LogAttributes.http.status:[99 TO 501]',
    '((toFloat64OrNull(`LogAttributes`[{p1:String}]) >= {p2:UInt8}) AND (toFloat64OrNull(`LogAttributes`[{p1:String}]) <= {p3:UInt16}))',
    ['http.status', 99, 501],
    [1, 3],
  ],
  [
    '-LogAttributes.http.status:>=500',
    '(NOT coalesce((toFloat64OrNull(`LogAttributes`[{p1:String}]) >= {p2:UInt16}), false))',
    ['http.status', 500],
    [3, 4],
  ],
  [
    'NOT LogAttributes.http.status:[0 TO 2000]',
    '(NOT coalesce(((toFloat64OrNull(`LogAttributes`[{p1:String}]) >= {p2:UInt8}) AND (toFloat64OrNull(`LogAttributes`[{p1:String}]) <= {p3:UInt16})), false))',
    ['http.status', 0, 2000],
    [4],
  ],
  [
    'LogAttributes.http.status:50*',
    '(lower(`LogAttributes`[{p1:String}]) LIKE {p2:String})',
    ['http.status', '50%'],
    [1],
  ],
  [
    'LogAttributes.http.status:*00',
    '(lower(`LogAttributes`[{p1:String}]) LIKE {p2:String})',
    ['http.status', '%00'],
    [1, 2],
  ],
  [
    'LogAttributes.http.status:number',
    '(lower(`LogAttributes`[{p1:String}]) LIKE {p2:String})',
    ['http.status', '%number%'],
    [4],
  ],
  [
    'LogAttributes.ratio:1000',
    'coalesce((toFloat64OrNull(`LogAttributes`[{p1:String}]) = {p2:UInt16}), (lower(`LogAttributes`[{p1:String}]) LIKE {p3:String}))',
    ['ratio', 1000, '%1000%'],
    [3],
  ],
  ['LogAttributes.http.status:*', 'notEmpty(`LogAttributes`[{p1:String}])', ['http.status'], [1, 2, 3, 4]],
  ['LogAttributes.empty:*', 'notEmpty(`LogAttributes`[{p1:String}])', ['empty'], []],
  ['LogAttributes.nope:*', 'notEmpty(`LogAttributes`[{p1:String}])', ['nope'], []],
  ['-LogAttributes.http.method:*', '(NOT notEmpty(`LogAttributes`[{p1:String}]))', ['http.method'], [3]],
  [
    'LogAttributes.http.method:get',
    '(lower(`LogAttributes`[{p1:String}]) LIKE {p2:String})',
    ['http.method', '%get%'],
    [1],
  ],
  ['LogAttributes.http.method:"get"', '(`LogAttributes`[{p1:String}] = {p2:String})', ['http.method', 'get'], []],
  [
    "LogAttributes.http.method:it's",
    '(lower(`LogAttributes`[{p1:String}]) LIKE {p2:String})',
    ['http.method', "%it's%"],
    [4],
  ],
  [
    'LogAttributes.user-agent:curl',
    '(lower(`LogAttributes`[{p1:String}]) LIKE {p2:String})',
    ['user-agent', '%curl%'],
    [1],
  ],
  ['LogAttributes.path:/api/v1', '(lower(`LogAttributes`[{p1:String}]) LIKE {p2:String})', ['path', '%/api/v1%'], [2]],
  ['LogAttributes.path:\\/api\\/*', '(lower(`LogAttributes`[{p1:String}]) LIKE {p2:String})', ['path', '/api/%'], [2]],
  [
    'LogAttributes.http.method:(GET OR post)',
    '((lower(`LogAttributes`[{p1:String}]) LIKE {p2:String}) OR (lower(`LogAttributes`[{p1:String}]) LIKE {p3:String}))',
    ['http.method', '%get%', '%post%'],
    [1, 2],
  ],
  [
    'LogAttributes.http.method:(-get *)',
    '((NOT (lower(`LogAttributes`[{p1:String}]) LIKE {p2:String})) AND notEmpty(`LogAttributes`[{p1:String}]))',
    ['http.method', '%get%'],
    [2, 4],
  ],
  [
    'LogAttributes:curl',
    'arrayExists(_item -> (lower(_item) LIKE {p1:String}), mapValues(`LogAttributes`))',
    ['%curl%'],
    [1],
  ],
  ['LogAttributes:"GET"', 'has(mapValues(`LogAttributes`), {p1:String})', ['GET'], [1]],
  ['LogAttributes:*', 'notEmpty(mapValues(`LogAttributes`))', [], [1, 2, 3, 4]],
  [
    'ResourceAttributes.k8s.pod.name:api-1',
    '(lower(`ResourceAttributes`[{p1:String}]) LIKE {p2:String})',
    ['k8s.pod.name', '%api-1%'],
    [1],
  ],
  ['Counters.hits:>2', '(`Counters`[{p1:String}] > {p2:UInt8})', ['hits', 2], [1]],
  ['Counters.hits:3', '(`Counters`[{p1:String}] = {p2:UInt8})', ['hits', 3], [1]],
  ['Counters.hits:*', 'mapContains(`Counters`, {p1:String})', ['hits'], [1]],
  ['Events.Name:EXC', 'arrayExists(_item -> (lower(_item) LIKE {p1:String}), `Events.Name`)', ['%exc%'], [1]],
  ['Events.Name:"start"', 'has(`Events.Name`, {p1:String})', ['start'], [2]],
  ['Events.Name:re*y', 'arrayExists(_item -> (lower(_item) LIKE {p1:String}), `Events.Name`)', ['re%y'], [1]],
  ['Events.Name:*', 'notEmpty(`Events.Name`)', [], [1, 2]],
  ['-Events.Name:*', '(NOT notEmpty(`Events.Name`))', [], [3, 4]],
  [
    'Events.Attributes.type:ioerror',
    'arrayExists(_item -> (lower(_item[{p1:String}]) LIKE {p2:String}), `Events.Attributes`)',
    ['type', '%ioerror%'],
    [1],
  ],
  [
    'Events.Attributes.count:>=10',
    'arrayExists(_item -> (toFloat64OrNull(_item[{p1:String}]) >= {p2:UInt8}), `Events.Attributes`)',
    ['count', 10],
    [1],
  ],
  [
    'Events.Attributes.count:{4 TO 6}',
    'arrayExists(_item -> ((toFloat64OrNull(_item[{p1:String}]) > {p2:UInt8}) AND (toFloat64OrNull(_item[{p1:String}]) < {p3:UInt8})), `Events.Attributes`)',
    ['count', 4, 6],
    [2],
  ],
  [
    'Events.Attributes.count:*',
    'arrayExists(_item -> notEmpty(_item[{p1:String}]), `Events.Attributes`)',
    ['count'],
    [1, 2],
  ],
  ['Buckets:300', 'arrayExists(_item -> (_item = {p1:UInt16}), `Buckets`)', [300], [1]],
  [
    'Buckets:[3 TO 250]',
    'arrayExists(_item -> ((_item >= {p1:UInt8}) AND (_item <= {p2:UInt8})), `Buckets`)',
    [3, 250],
    [2],
  ],
  ['-Buckets:>100', '(NOT arrayExists(_item -> (_item > {p1:UInt8}), `Buckets`))', [100], [2, 3, 4]],
  [
    'LogAttributes.path:(http://x OR /api/v1/users)',
    '((lower(`LogAttributes`[{p1:String}]) LIKE {p2:String}) OR (lower(`LogAttributes`[{p1:String}]) LIKE {p3:String}))',
    ['path', '%http://x%', '%/api/v1/users%'],
    [2],
  ],
  [
    'Body:(localhost:3000 OR refused)',
    '((lower(`Body`) LIKE {p1:String}) OR (lower(`Body`) LIKE {p2:String}))',
    ['%localhost:3000%', '%refused%'],
    [1, 4],
  ],
  [
    'refused OR found',
    '(hasToken(lower(`Body`), {p1:String}) OR hasToken(lower(`Body`), {p2:String}))',
    ['refused', 'found'],
    [1, 3],
  ],
  [
    'refused || found',
    '(hasToken(lower(`Body`), {p1:String}) OR hasToken(lower(`Body`), {p2:String}))',
    ['refused', 'found'],
    [1, 3],
  ],
  [
    'not AND found',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}))',
    ['not', 'found'],
    [3],
  ],
  [
    'not && found',
    '(hasToken(lower(`Body`), {p1:String}) AND hasToken(lower(`Body`), {p2:String}))',
    ['not', 'found'],
    [3],
  ],
  [
    'not -found',
    '(hasToken(lower(`Body`), {p1:String}) AND (NOT hasToken(lower(`Body`), {p2:String})))',
    ['not', 'found'],
    [],
  ],
  ['NOT refused', '(NOT hasToken(lower(`Body`), {p1:String}))', ['refused'], [2, 3, 4]],
  ['!refused', '(NOT hasToken(lower(`Body`), {p1:String}))', ['refused'], [2, 3, 4]],
  [
    '-refused -found',
    '((NOT hasToken(lower(`Body`), {p1:String})) AND (NOT hasToken(lower(`Body`), {p2:String})))',
    ['refused', 'found'],
    [2, 4],
  ],
  [
    'refused OR connected AND database',
    '(hasToken(lower(`Body`), {p1:String}) OR (hasToken(lower(`Body`), {p2:String}) AND hasToken(lower(`Body`), {p3:String})))',
    ['refused', 'connected', 'database'],
    [1, 2],
  ],
  [
    '(refused OR connected) AND database',
    '((hasToken(lower(`Body`), {p1:String}) OR hasToken(lower(`Body`), {p2:String})) AND hasToken(lower(`Body`), {p3:String}))',
    ['refused', 'connected', 'database'],
    [2],
  ],
  [
    'database OR refused connected',
    '(hasToken(lower(`Body`), {p1:String}) OR (hasToken(lower(`Body`), {p2:String}) AND hasToken(lower(`Body`), {p3:String})))',
    ['database', 'refused', 'connected'],
    [2],
  ],
  [
    'NOT refused OR refused',
    '((NOT hasToken(lower(`Body`), {p1:String})) OR hasToken(lower(`Body`), {p1:String}))',
    ['refused'],
    [1, 2, 3, 4],
  ],
  [
    'NOT (refused OR found)',
    '(NOT (hasToken(lower(`Body`), {p1:String}) OR hasToken(lower(`Body`), {p2:String})))',
    ['refused', 'found'],
    [2, 4],
  ],
  [
    '-(refused OR found) +connected',
    '((NOT (hasToken(lower(`Body`), {p1:String}) OR hasToken(lower(`Body`), {p2:String}))) AND hasToken(lower(`Body`), {p3:String}))',
    ['refused', 'found', 'connected'],
    [2],
  ],
  ['NOT NOT refused', '(NOT (NOT hasToken(lower(`Body`), {p1:String})))', ['refused'], [1]],
  [
    'ServiceName:(api -gateway)',
    '((lower(`ServiceName`) LIKE {p1:String}) AND (NOT (lower(`ServiceName`) LIKE {p2:String})))',
    ['%api%', '%gateway%'],
    [1],
  ],
  [
    'ServiceName:((api OR worker) AND NOT "api")',
    '(((lower(`ServiceName`) LIKE {p1:String}) OR (lower(`ServiceName`) LIKE {p2:String})) AND (NOT (`ServiceName` = {p3:String})))',
    ['%api%', '%worker%', 'api'],
    [2, 3, 4],
  ],
  [
    'refused AND(ServiceName:api)',
    '(hasToken(lower(`Body`), {p1:String}) AND (lower(`ServiceName`) LIKE {p2:String}))',
    ['refused', '%api%'],
    [1],
  ],
  [
    'refused"by upstream"',
    '(hasToken(lower(`Body`), {p1:String}) AND (lower(`Body`) LIKE {p2:String}))',
    ['refused', '%by upstream%'],
    [1],
  ],
];

const REJECTED: [text: string, message: string][] = [
  ['foo:bar', 'Unknown column "foo"; put text with a colon in quotes, at character 1: "▸foo:bar"'],
  ['status:500', 'Unknown column "status"; put text with a colon in quotes, at character 1: "▸status:500"'],
  ['servicename:api', 'Unknown column "servicename"; did you mean "ServiceName"?, at character 1: "▸servicename:api"'],
  [
    'OrganizationId:theirs',
    'Unknown column "OrganizationId"; put text with a colon in quotes, at character 1: "▸OrganizationId:theirs"',
  ],
  [
    'OrganizationID:x',
    'Unknown column "OrganizationID"; put text with a colon in quotes, at character 1: "▸OrganizationID:x"',
  ],
  [
    'LogAttribute.x:1',
    'Unknown column "LogAttribute.x"; did you mean "LogAttributes"?, at character 1: "▸LogAttribute.x:1"',
  ],
  ['Body.x:1', 'Unknown column "Body.x"; did you mean "Body"?, at character 1: "▸Body.x:1"'],
  ['error: failed', 'Unknown column "error"; put text with a colon in quotes, at character 1: "▸error: failed"'],
  [':x', 'A column is missing before the colon, at character 1: "▸:x"'],
  ['ServiceName:', 'A value is missing after "ServiceName", at character 13: "ServiceName:▸"'],
  ['ServiceName: api', 'A value is missing after "ServiceName", at character 13: "ServiceName:▸ api"'],
  ['Duration:fast', '"Duration" is a number, so its value must be a number, at character 10: "Duration:▸fast"'],
  ['Duration:>fast', '"Duration" is a number, so its value must be a number, at character 11: "Duration:>▸fast"'],
  ['Duration:[a TO 5]', '"Duration" is a number, so its value must be a number, at character 11: "Duration:[▸a TO 5]"'],
  ['IsError:maybe', '"IsError" is a boolean: use true or false, at character 9: "IsError:▸maybe"'],
  ['IsError:>1', '"IsError" is a boolean: use true or false, at character 10: "IsError:>▸1"'],
  [
    'Timestamp:yesterday',
    '"Timestamp" is a time; write it as 2026-11-15T12:00:00Z, at character 11: "Timestamp:▸yesterday"',
  ],
  [
    'Timestamp:2026-02-30',
    '"Timestamp" is a time; write it as 2026-11-15T12:00:00Z, at character 11: "Timestamp:▸2026-02-30"',
  ],
  ['Pair:1', '"Pair" cannot be searched, at character 6: "Pair:▸1"'],
  ['Pair:*x', '"Pair" cannot be searched with wildcards, at character 6: "Pair:▸*x"'],
  ['refused AND', 'The expression is incomplete, at character 12: "refused AND▸"'],
  [
    'AND refused',
    'A term is missing before this operator; use lower case to search for the word, at character 1: "▸AND refused"',
  ],
  [
    'refused OR OR found',
    'A term is missing before this operator; use lower case to search for the word, at character 12: "refused OR ▸OR found"',
  ],
  ['NOT', 'The expression is incomplete, at character 4: "NOT▸"'],
  ['refused NOT', 'The expression is incomplete, at character 12: "refused NOT▸"'],
  ['()', 'A term is missing before this, at character 2: "(▸)"'],
  ['(refused', 'The closing ")" is missing, at character 1: "▸(refused"'],
  ['refused)', 'This ")" has no matching "(", at character 8: "refused▸)"'],
  ['refused - found', '"-" must be followed by a word; escape it as \\-, at character 9: "refused ▸- found"'],
  ['"open', 'The closing " is missing, at character 1: "▸"open"'],
  ['ServiceName:"open', 'The closing " is missing, at character 13: "ServiceName:▸"open"'],
  ['ServiceName:[1 TO 2', 'The end of the range, "]" or "}", is missing, at character 13: "ServiceName:▸[1 TO 2"'],
  ['ServiceName:[1 2]', 'A range is written as [from TO to], at character 16: "ServiceName:[1 ▸2]"'],
  ['ServiceName:[TO 2]', 'A range is written as [from TO to], at character 17: "ServiceName:[TO ▸2]"'],
  ['ServiceName:(api', 'The closing ")" is missing, at character 13: "ServiceName:▸(api"'],
  ['ServiceName:(api OR)', 'A term is missing before this, at character 20: "ServiceName:(api OR▸)"'],
  ['ServiceName:>', 'A value is missing after >, at character 14: "ServiceName:>▸"'],
  ['Duration:>5*', 'A wildcard cannot be compared, at character 11: "Duration:>▸5*"'],
  ['/re.*gex/', 'Regular expressions are not supported; put a path in quotes, at character 1: "▸/re.*gex/"'],
  [
    'ServiceName:/a.i/',
    'Regular expressions are not supported; put a path in quotes, at character 13: "ServiceName:▸/a.i/"',
  ],
  ['error~', 'Fuzzy search with ~ is not supported; escape it as \\~, at character 6: "error▸~"'],
  ['error~2', 'Fuzzy search with ~ is not supported; escape it as \\~, at character 6: "error▸~2"'],
  ['"a b"~3', 'Proximity search with ~ is not supported, at character 6: ""a b"▸~3"'],
  ['error^2', 'Boosting with ^ is not supported; escape it as \\^, at character 6: "error▸^2"'],
  ['"a b"^2', 'Boosting with ^ is not supported, at character 6: ""a b"▸^2"'],
  ['[1 TO 2]', 'Escape [ as \\[, or put the text in quotes, at character 1: "▸[1 TO 2]"'],
  ['foo]bar', 'Escape ] as \\], or put the text in quotes, at character 4: "foo▸]bar"'],
  ['{x}', 'Escape { as \\{, or put the text in quotes, at character 1: "▸{x}"'],
  ['trailing\\', 'A character is missing after the backslash, at character 9: "trailing▸\\"'],
  ['“refused”', 'Use straight quotes: ", at character 1: "▸“refused”"'],
  ['refused\u00a0found', 'The character U+00A0 is only allowed between quotes, at character 8: "refused▸ found"'],
  ['re\u200bfused', 'The character U+200B is only allowed between quotes, at character 3: "re▸ fused"'],
  ['\u202erefused', 'The character U+202E is only allowed between quotes, at character 1: "▸ refused"'],
  ['a\u0007b', 'The character U+0007 is only allowed between quotes, at character 2: "a▸ b"'],
  ['Log*:x', 'Unknown column "Log*"; put text with a colon in quotes, at character 1: "▸Log*:x"'],
  [
    'ServiceName:(api OR Duration:>5)',
    '"Duration" is not allowed in the parentheses of another column, at character 21: "ServiceName:(api OR ▸Duration:>5)"',
  ],
];

describe('Lucene', () => {
  let rows: ExpressionRows;
  beforeAll(() => {
    rows = openExpressionRows();
  });
  afterAll(() => rows.close());

  it.each(EXAMPLES)('compiles %s', (text, sql, parameters, matching) => {
    const writer = createWriter();
    const condition = parseLucene(text, SCOPE);
    expect(condition && writer.write(condition)).toBe(sql);
    expect(Object.values(writer.parameters)).toEqual(parameters);
    expect(rows.matching(condition)).toEqual(matching);
  });

  it.each(['', '  ', '\n\t'])('treats blank input (%j) as no condition', (text) => {
    expect(parseLucene(text, SCOPE)).toBeUndefined();
    expect(rows.matching(parseLucene(text, SCOPE))).toEqual([1, 2, 3, 4]);
  });

  it.each(REJECTED)('rejects %s', (text, message) => {
    expect(getErrorMessage(text)).toBe(message);
  });

  it('requires an implicit string column for bare words', () => {
    const columns = SCOPE.columns;
    expect(() => parseLucene('refused', { columns })).toThrow('write column:word');
    expect(() => parseLucene('refused', { columns, implicitColumn: 'Duration' })).toThrow('need a string column');
    expect(() => parseLucene('refused', { columns, implicitColumn: 'OrganizationId' })).toThrow('Unknown column');
    const inAttribute = parseLucene('curl', { columns, implicitColumn: 'LogAttributes.user-agent' });
    expect(rows.matching(inAttribute)).toEqual([1]);
  });
});

function getErrorMessage(text: string): string {
  try {
    parseLucene(text, SCOPE);
  } catch (error) {
    if (error instanceof ExpressionError) return `${error.message}, ${pointAt(text, error)}`;
    throw error;
  }
  return 'none';
}
