import { type Credential, forbidden, type KeyExchange } from '#kernel'
import { AccessTokens, formProblem } from '#kit'
import { credentialOf } from './credential.ts'
import { roleKeys } from './role.ts'

/** The key that stands for the role of the machine. */
const ofRole = 'role'

/** Keys of AWS: that of a role is exchanged for keys that hold for some hours, others are used as they are. */
export function awsExchange(): KeyExchange {
  const keys = new AccessTokens<Credential>()
  return {
    problem: (secret) =>
      formProblem(() => {
        if (secret.trim() === ofRole)
          throw new RangeError('the role of the gateway’s machine is not for users.')
        credentialOf(secret)
      }),

    ready(target) {
      const { key } = target
      if (key?.secret !== ofRole) return target
      if (key.owner === 'user') throw forbidden('The role of the gateway’s machine is not for users.')
      const made = keys.get(key, async () => {
        const { value: secret, expiresAt } = await roleKeys(target)
        return { value: { ...key, secret }, expiresAt }
      })
      return made instanceof Promise ? made.then((key) => ({ ...target, key })) : { ...target, key: made }
    },

    forget({ key }) {
      if (key) keys.forget(key)
    },
  }
}
