import { describe, expect, it } from 'vitest';
import { AppError } from '../../kernel/errors.ts';
import { toStoreError } from './failures.ts';

const fail = (code: string, message = 'internal detail') => toStoreError(Object.assign(new Error(message), { code }));

describe('an error of the store that no request caused', () => {
  it.each([
    ['08006', 'the database cannot be reached'],
    ['25006', 'the database is read-only'],
    ['25P03', 'the change took too long'],
    ['28P01', 'the database rejected the user or the password'],
    ['3D000', 'the database does not exist'],
    ['40P01', 'other changes of the same data are in progress'],
    ['53000', 'the database is overloaded'],
    ['53100', 'the disk is full'],
    ['53200', 'the database has no free memory'],
    ['53300', 'the database has no free connection'],
    ['53400', 'the database has no free connection'],
    ['55P03', 'another change or program has locked the data'],
    ['57000', 'the database cannot be reached'],
    ['57014', 'the database canceled the statement'],
    ['57P01', 'the database cannot be reached'],
    ['57P02', 'the database cannot be reached'],
    ['57P03', 'the database cannot be reached'],
    ['58000', 'the database cannot read or write its files'],
    ['58030', 'the database cannot read or write its files'],
    ['58P01', 'the database cannot read or write its files'],
    ['XX001', 'the database cannot read or write its files'],
    ['SQLITE_FULL', 'the disk is full'],
    ['SQLITE_BUSY_SNAPSHOT', 'another program has locked the database'],
    ['SQLITE_IOERR_WRITE', 'the database file cannot be read or written'],
    ['ECONNREFUSED', 'the database cannot be reached'],
  ])('%s is unavailable: %s', (code, reason) => {
    const error = fail(code);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({
      code: 'unavailable',
      message: `The state store is not available: ${reason}`,
      retryAfterSeconds: 1,
    });
  });

  it.each(['23505', '42601', '42P01', '22P02', 'XX000', 'SQLITE_CONSTRAINT', 'SQLITE_ERROR'])(
    '%s is a fault of the statement',
    (code) => expect(fail(code)).not.toBeInstanceOf(AppError),
  );
});
