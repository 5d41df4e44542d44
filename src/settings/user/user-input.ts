import { z } from 'zod';
import { isForbiddenName, namesInput, notEmpty } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { callLimitsInput } from '../document/call-limits.ts';
import { isReservedUser } from './user-names.ts';
import { problemTable, problemText } from '../../core/problems.ts';

/**
 * The bodies of the user endpoints (SPEC, Users; CONTRACT §4), in their own spelling and in MCPHub's (`isAdmin`,
 * `newPassword`).
 */

export const usernameInput = z
  .string()
  .trim()
  .normalize('NFC')
  .min(1, problemTable.empty)
  .max(coreLimits.nameChars, problemText('at_most', { most: `${coreLimits.nameChars}` }))
  .regex(/^[\p{L}\p{M}\p{N}._@+-]+$/u, problemTable.username_letters)
  .refine((name) => !/^\.+$/.test(name), problemTable.dots_only)
  .refine((name) => !isReservedUser(name) && !isForbiddenName(name), problemTable.reserved_name);

export const passwordInput = z
  .string()
  .min(coreLimits.passwordMinChars, problemText('at_least', { least: `${coreLimits.passwordMinChars}` }))
  .max(coreLimits.passwordChars, problemText('at_most', { most: `${coreLimits.passwordChars}` }));

const roleInput = z.enum(['admin', 'user'], { error: 'must be "admin" or "user"' });

const more = {
  role: roleInput.nullish(),
  isAdmin: z.boolean().nullish(),
  servers: namesInput.nullish(),
  groups: namesInput.nullish(),
  email: z
    .string()
    .trim()
    .max(coreLimits.emailChars)
    .regex(/^(?:[^\s@\p{C}]+@[^\s@\p{C}]+)?$/u, problemTable.email_form)
    .nullish(),
  limits: callLimitsInput.nullish(),
};

const eitherPassword = { password: passwordInput.nullish(), newPassword: passwordInput.nullish() };

export const newUserInput = z
  .object({ username: usernameInput, ...eitherPassword, ...more })
  .refine(({ password, newPassword, email }) => typeof (password ?? newPassword) === 'string' || email, {
    path: ['password'],
    message: problemTable.password_or_email,
    // Also when something else is wrong, so that everything missing is told at once.
    when: ({ value }) => isObject(value) && (value['password'] ?? value['newPassword'] ?? undefined) === undefined,
  })
  .superRefine(rolesAgree)
  .superRefine(passwordsAgree)
  .transform(({ isAdmin, role, password, newPassword, ...input }) => ({
    ...input,
    role: roleFrom({ isAdmin, role }),
    password: password ?? newPassword ?? undefined,
  }));

export const userUpdateInput = z
  .object({ ...eitherPassword, ...more, keepKeys: z.boolean({ error: 'must be true or false' }).nullish() })
  .refine(notEmpty, 'needs at least one of password, role, servers, groups, email, limits')
  .refine(({ keepKeys, password, newPassword }) => !keepKeys || typeof (password ?? newPassword) === 'string', {
    path: ['keepKeys'],
    message: 'is for a new password: send it with "password"',
  })
  .superRefine(rolesAgree)
  .superRefine(passwordsAgree)
  .transform(({ isAdmin, role, password, newPassword, ...input }) => ({
    ...input,
    role: roleFrom({ isAdmin, role }),
    password: password ?? newPassword ?? undefined,
  }));

/**
 * A password that is too long to be set is refused before any user is looked up: the time of the look-up would tell
 * which users exist.
 */
const givenPassword = z
  .string()
  .max(coreLimits.passwordChars, problemText('at_most', { most: `${coreLimits.passwordChars}` }));

/** What a browser answers for a passkey (WebAuthn §5.1): the library that checks it looks at the rest. */
export const passkeyAnswer = z.looseObject({
  id: z.string().max(coreLimits.textChars),
  rawId: z.string(),
  type: z.literal('public-key'),
  response: z.looseObject({ clientDataJSON: z.string() }),
});

/** What stands beside a password where the user has a second factor. */
const givenFactor = {
  /** Of the answer that asked for it; in place of the password. */
  challenge: z.string().max(coreLimits.textChars).nullish(),
  code: z.string().max(coreLimits.nameChars).nullish(),
  passkey: passkeyAnswer.nullish(),
};

/** The challenge says that the password was right. */
const passwordOrChallenge = <T extends z.ZodRawShape>(shape: T, required: readonly (keyof T & string)[]) =>
  z.object({ ...shape, ...givenFactor }).superRefine((given, context) => {
    const members: Readonly<Record<string, unknown>> = given;
    if (typeof members['challenge'] === 'string') return;
    for (const name of required)
      if (typeof members[name] !== 'string')
        context.addIssue({ code: 'custom', path: [name], message: problemTable.required });
  });

export const changePasswordInput = z.object({
  currentPassword: givenPassword,
  newPassword: passwordInput,
  ...givenFactor,
});

export const passwordCheckInput = z.object({
  password: givenPassword,
  username: z.string().max(coreLimits.nameChars).nullish(),
});

export const reauthenticateInput = passwordOrChallenge({ password: givenPassword.nullish() }, ['password']);

export const loginInput = passwordOrChallenge(
  {
    username: z.string().min(1).max(coreLimits.textChars).nullish(),
    password: givenPassword.nullish(),
    cookie: z.boolean({ error: 'must be true or false' }).nullish(),
  },
  ['username', 'password'],
);

export const newPasskeyInput = z.object({
  name: z.string().trim().min(1, problemTable.empty).max(coreLimits.nameChars),
  challenge: z.string().max(coreLimits.textChars),
  passkey: passkeyAnswer,
});

export const factorCodeInput = z.object({ code: z.string().min(1, problemTable.empty).max(coreLimits.nameChars) });

export type NewUser = z.infer<typeof newUserInput>;
export type UserUpdate = z.infer<typeof userUpdateInput>;

interface Roles {
  role?: 'admin' | 'user' | null | undefined;
  isAdmin?: boolean | null | undefined;
}

function rolesAgree({ role, isAdmin }: Roles, context: z.RefinementCtx): void {
  if (typeof isAdmin === 'boolean' && role && (role === 'admin') !== isAdmin) {
    context.addIssue({ code: 'custom', path: ['isAdmin'], message: 'contradicts role; send one of them' });
  }
}

interface GivenPasswords {
  password?: string | null | undefined;
  newPassword?: string | null | undefined;
}

function passwordsAgree({ password, newPassword }: GivenPasswords, context: z.RefinementCtx): void {
  if (password && newPassword && password !== newPassword) {
    context.addIssue({ code: 'custom', path: ['newPassword'], message: 'contradicts password; send one of them' });
  }
}

function roleFrom({ role, isAdmin }: Roles): 'admin' | 'user' | undefined {
  if (role) return role;
  return typeof isAdmin === 'boolean' ? (isAdmin ? 'admin' : 'user') : undefined;
}
