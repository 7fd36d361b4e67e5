import { AppError } from '../../kernel/errors.ts';

export const missingService = (id: string) => new AppError('not_found', `service ${id} does not exist`);
