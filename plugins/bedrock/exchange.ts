import { type Credential, forbidden, type KeyExchange } from '#kernel'
import { AccessTokens, formProblem } from '#kit'
import { credentialOf } from './credential.ts'
import { roleKeys } from './role.ts'

/** The key that stands for the role of the machine that the gateway runs on. */
const machine = 'machine'

/** Keys of AWS: the machine's role is exchanged for keys that hold for some hours, others are used as they are. */
export function awsExchange(): KeyExchange {
  const keys = new AccessTokens<Credential>()
  return {
    problem: (secret) =>
      formProblem(() => {
        if (secret.trim() === machine)
          throw new RangeError('what the gateway’s machine may do is not for users.')
        credentialOf(secret)
      }),

    ready(target) {
      const { key } = target
      if (key?.secret !== machine) return target
      if (key.owner === 'user') throw forbidden('What the gateway’s machine may do is not for users.')
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
