import { expect, it } from 'vitest';
import { listMigrations } from '../../kernel/migration.ts';
import { createClusterStatements } from './cluster-statements.ts';

it('the migrations have a form for a cluster', async () => {
  const convert = createClusterStatements('main');
  const statements = [
    'CREATE DATABASE IF NOT EXISTS pilothouse',
    ...listMigrations('engine').flatMap((migration) => migration.statements),
  ].flatMap(convert);
  await expect(`${statements.join(';\n\n')};\n`).toMatchFileSnapshot('cluster-statements.golden.sql');
});
