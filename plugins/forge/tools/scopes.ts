import { z } from 'zod'
import type { Accounts } from '#kernel'
import type { StoredPrincipal } from '#kit'

/** Whom a tool is for, by what is known of a caller and no caller chooses. */
export const scope = z
  .string()
  .regex(/^(user|key|plan|tenant):[^\s]{1,100}$/, 'must be user:<id>, key:<id>, plan:<name> or tenant:<name>')

/**
 * Whether a caller is one of those that a tool is for: anybody where it names nobody, and always an admin. A key that took the
 * place of a named one is meant, too.
 */
export async function isFor(
  scopes: readonly string[],
  { type, keyId, userId, plan, tenant }: StoredPrincipal,
  keys: Pick<Accounts['keys'], 'find'>,
): Promise<boolean> {
  if (type === 'admin' || scopes.length === 0) return true
  const own = [`key:${keyId}`, `plan:${plan}`, `user:${userId}`, `tenant:${tenant}`]
  if (scopes.some((scope) => own.includes(scope))) return true
  for (const scope of scopes)
    if (scope.startsWith('key:') && (await isSucceeded(scope.slice('key:'.length), keyId, keys))) return true
  return false
}

/** Whether one key took the place of another, through any number of rotations. */
async function isSucceeded(id: string, by: string, keys: Pick<Accounts['keys'], 'find'>): Promise<boolean> {
  const next = (await keys.find(id))?.replaced_by
  return next !== undefined && (next === by || isSucceeded(next, by, keys))
}
