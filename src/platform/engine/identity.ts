import { AppError } from '../../kernel/errors.ts';
import { type Engine, OWN_DATABASE } from './engine.ts';

const TABLE = `${OWN_DATABASE}.engine_identity`;

/**
 * The random identity of the engine's data, created with its tables. More than one if several nodes created it at the
 * same time; the first is the one to remember, and any of them identifies the engine.
 */
export async function readEngineIdentities(engine: Engine): Promise<[string, ...string[]]> {
  try {
    const sql = `SELECT Identity FROM ${TABLE} ORDER BY CreatedAt, Identity LIMIT 100`;
    const [first, ...rest] = (await engine.query({ sql, parameters: {} })).map(([identity]) => String(identity));
    if (first !== undefined) return [first, ...rest];
    throw new AppError('bad_request', `${TABLE} is empty`);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'bad_request') throw error;
    const text = `The engine has no identity: permit its user to create tables in the database ${OWN_DATABASE}, or run migrations/engine/0001-schema.sql`;
    throw new AppError('unavailable', text, { cause: error, retryAfterSeconds: 60 });
  }
}
