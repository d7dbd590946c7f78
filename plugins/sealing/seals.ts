import { createHmac } from 'node:crypto'
import { type Sealing, type Secrets, SecretsError } from '#kernel'
import type { Salt, Salts } from './salts.ts'

/** `sealed:`, the salt's id, and what `Secrets` encrypted. */
const form = /^sealed:(salt_[0-9A-Z]{26}):(enc:[A-Za-z0-9+/]+=*)$/

/** Seals with keys that are derived from the encryption key and a subject's salt. */
export function sealingWith(secrets: () => Secrets, salts: Salts): Sealing {
  const derived = new WeakMap<Salt, Map<string, Secrets>>()
  const naming = new Map<string, Secrets>()

  /** Deriving costs more than most encryptions do. */
  function secretsOf(salt: Salt, purpose: string): Secrets {
    let known = derived.get(salt)
    if (!known) {
      known = new Map()
      derived.set(salt, known)
    }
    let own = known.get(purpose)
    if (!own) {
      own = secrets().derive(`sealing ${purpose}`, salt.bytes)
      known.set(purpose, own)
    }
    return own
  }

  return {
    sealFor(purpose, subject) {
      const sealWith = (salt: Salt) => {
        const own = secretsOf(salt, purpose)
        return (text: string): string => `sealed:${salt.id}:${own.encrypt(text)}`
      }
      const salt = salts.of(subject)
      return salt instanceof Promise ? salt.then(sealWith) : sealWith(salt)
    },
    isSealed: (text) => text.startsWith('sealed:salt_'),
    async open(purpose, sealed) {
      const [, id, encrypted] = form.exec(sealed) ?? []
      if (id === undefined || encrypted === undefined) {
        throw new SecretsError(
          'SECRET_MALFORMED',
          'This is not a sealed text: expected sealed:, a salt and enc:.',
        )
      }
      const salt = await salts.find(id)
      return salt && secretsOf(salt, purpose).decrypt(encrypted)
    },
    commitFor(purpose, subject) {
      const commitWith =
        ({ id, bytes }: Salt) =>
        (text: string): string =>
          `commitment:${id}:${createHmac('sha256', bytes).update(`${purpose}\0${text}`).digest('base64url')}`
      const salt = salts.of(subject)
      return salt instanceof Promise ? salt.then(commitWith) : commitWith(salt)
    },
    namesOf(purpose, text) {
      let own = naming.get(purpose)
      if (!own) {
        own = secrets().derive(`names ${purpose}`)
        naming.set(purpose, own)
      }
      return own.names(text)
    },
  }
}
