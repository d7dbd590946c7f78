import type { Config } from '../../../config/config.ts'
import { type Check, warning } from './result.ts'

/** The form of imported keys, so that they cannot be guessed. */
const form = /^sy_admin_.{23,}$/

/** The problem of the admin key of a configuration, for the operator; contains no part of the key. */
export const adminKeyProblem = ({ adminKey }: Pick<Config, 'adminKey'>): string | undefined =>
  adminKey === undefined || form.test(adminKey)
    ? undefined
    : 'The admin key is weak: it should begin with sy_admin_ and have at least 32 characters. ' +
      'Set SERVICE_ADMIN_KEY to the output of `echo sy_admin_$(openssl rand -hex 24)`, or leave it out and the gateway makes one.'

export function checkAdminKey(config: Pick<Config, 'adminKey'>): Check[] {
  const problem = adminKeyProblem(config)
  return problem === undefined ? [] : [warning('admin key', problem)]
}
