import { notifications } from '@mantine/notifications';
import { messageOf } from '../api/errors.ts';

/** Says what happened. */
export const tellDone = (message: string): void => {
  notifications.show({ message, color: 'teal', autoClose: 5000 });
};

/** Says what did not, where no field or panel can. */
export const tellFailed = (title: string, error: unknown): void => {
  notifications.show({ title, message: messageOf(error), color: 'red', autoClose: 10_000, role: 'alert' });
};
