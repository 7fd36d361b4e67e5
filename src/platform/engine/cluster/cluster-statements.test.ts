import { expect, it } from 'vitest';
import { listMigrations } from '../../../kernel/migration.ts';
import { createClusterStatements } from './cluster-statements.ts';

it('the migrations have a form for a cluster', async () => {
  const convert = createClusterStatements('main');
  const statements = [
    'CREATE DATABASE IF NOT EXISTS pilothouse',
    ...listMigrations('engine').flatMap((migration) => migration.statements),
  ].flatMap(convert);
  await expect(`${statements.join(';\n\n')};\n`).toMatchFileSnapshot('cluster-statements.golden.sql');
});

const convertAll = (...statements: string[]) => statements.flatMap(createClusterStatements('main'));
const NOTES = 'CREATE TABLE IF NOT EXISTS pilothouse.notes (Id String, At DateTime) ENGINE = MergeTree ORDER BY Id';

it('a change of columns replaces the Distributed table too', () => {
  const change = (text: string) => convertAll(NOTES, `ALTER TABLE pilothouse.notes ${text}`).slice(2);
  expect(change('ADD COLUMN IF NOT EXISTS Title String')).toEqual([
    "ALTER TABLE pilothouse.notes_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS Title String",
    "CREATE OR REPLACE TABLE pilothouse.notes ON CLUSTER 'main' AS pilothouse.notes_local\nENGINE = Distributed('main', 'pilothouse', 'notes_local', cityHash64(Id))",
  ]);
  for (const text of ['MODIFY TTL At + INTERVAL 1 DAY', 'ADD INDEX IF NOT EXISTS title Title TYPE minmax'])
    expect(change(text)).toEqual([`ALTER TABLE pilothouse.notes_local ON CLUSTER 'main' ${text}`]);
});

it('rows are removed on the shards', () => {
  expect(convertAll('DELETE FROM pilothouse.notes WHERE Id = {id:String}')).toEqual([
    "DELETE FROM pilothouse.notes_local ON CLUSTER 'main' WHERE Id = {id:String}",
  ]);
  expect(convertAll('TRUNCATE TABLE IF EXISTS pilothouse.notes SYNC')).toEqual([
    "TRUNCATE TABLE IF EXISTS pilothouse.notes_local ON CLUSTER 'main' SYNC",
  ]);
  expect(convertAll('DROP TABLE IF EXISTS pilothouse.notes SYNC')).toEqual([
    "DROP TABLE IF EXISTS pilothouse.notes ON CLUSTER 'main' SYNC",
    "DROP TABLE IF EXISTS pilothouse.notes_local ON CLUSTER 'main' SYNC",
  ]);
});

it.each([
  ['RENAME TABLE pilothouse.a TO pilothouse.b', 'no form for a cluster'],
  ['CREATE TABLE IF NOT EXISTS pilothouse.a (x UInt8) ENGINE = Log', 'needs a MergeTree engine'],
  ['CREATE MATERIALIZED VIEW IF NOT EXISTS pilothouse.v ENGINE = Log AS SELECT 1', 'no form for a cluster'],
  ['CREATE TABLE IF NOT EXISTS pilothouse.a AS pilothouse.b', 'b has no definition of its own'],
])('%s is rejected', (statement, problem) => expect(() => convertAll(statement)).toThrow(problem));

it('a copy of a table that was changed is rejected', () => {
  const copy = 'CREATE TABLE IF NOT EXISTS pilothouse.copies AS pilothouse.notes';
  expect(convertAll(NOTES, copy)).toHaveLength(4);
  const change = 'ALTER TABLE pilothouse.notes MODIFY SETTING fsync_after_insert = 1';
  expect(() => convertAll(NOTES, change, copy)).toThrow('write the definition of copies');
});
