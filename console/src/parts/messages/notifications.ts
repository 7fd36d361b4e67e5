import { notifications } from '@mantine/notifications';
import { formatError } from '../../api/errors.ts';

export const notifySuccess = (message: string): void => {
  notifications.show({ message, color: 'teal', autoClose: 5000 });
};

/** For errors that belong to no field or panel. */
export const notifyError = (title: string, error: unknown): void => {
  notifications.show({ title, message: formatError(error), color: 'red', autoClose: 10_000, role: 'alert' });
};
