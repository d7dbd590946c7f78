import { type Credential, forbidden, type Target } from '#kernel'
import { AccessTokens, formProblem, type KeyExchange } from '#provider'
import { keysFor } from './assume.ts'
import { credentialOf, keyFault } from './credential.ts'
import { type AwsIdentity, identityOf } from './identity.ts'
import { optionsOf } from './options.ts'

const notForUsers = 'What the gateway’s machine may do is not for users.'

/**
 * Keys of AWS: identities, and keys of the operator's that are to assume a role, are exchanged for keys that hold for
 * some hours; others are used as they are.
 */
export function awsExchange(): KeyExchange {
  const keys = new AccessTokens<Credential>()

  function made(key: Credential, target: Target): Credential | Promise<Credential> | undefined {
    const identity = identityIn(key, target)
    if (key.owner === 'user') {
      if (identity) throw forbidden(notForUsers)
      return undefined
    }
    if (!identity && !optionsOf(target.provider).assume_role) return undefined
    return keys.get(key, async () => {
      const { value: secret, expiresAt } = await keysFor(identity, target)
      return { value: { ...key, secret }, expiresAt }
    })
  }

  /** What a key stands for, if it is not used itself. */
  function identityIn(key: Credential, target: Target): AwsIdentity | undefined {
    try {
      return identityOf(key.secret)
    } catch (error) {
      throw error instanceof RangeError ? keyFault(error, target) : error
    }
  }

  return {
    problem: (secret) =>
      formProblem(() => {
        if (identityOf(secret))
          throw new RangeError('users cannot use the identity of the gateway’s machine.')
        credentialOf(secret)
      }),

    ready(target) {
      const key = target.key && made(target.key, target)
      if (!key) return target
      return key instanceof Promise ? key.then((key) => ({ ...target, key })) : { ...target, key }
    },

    forget({ key }) {
      if (key) keys.forget(key)
    },
  }
}
