/** For the console. With a standard scheme, browsers would open their password dialog. */
export const SESSION_CHALLENGE = 'Session realm="pilothouse"';

/** The console asks the person to sign in again (RFC 9470). */
export const FRESH_SIGN_IN_CHALLENGE = `${SESSION_CHALLENGE}, error="insufficient_user_authentication", max_age="600"`;
