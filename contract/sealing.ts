import type { Principal } from '../kernel/call/call.ts'
import type { Subject } from '../kernel/contract/personal-data.ts'
import { guardedToken, token } from '../kernel/token.ts'
import type { Awaitable } from '../kit/work/continue-with.ts'

/**
 * Encrypts what a plugin stores about a person, under a key for that plugin and that person: AES-256-GCM with a key
 * derived by HKDF-SHA-256 from the encryption key and a random salt. When the person's data is erased the salt goes, and
 * no copy of what it sealed can be read any more, wherever in this gateway it lies.
 */
export interface Sealing {
  /**
   * Gives a function that seals texts for a subject. `purpose` is the plugin's id. A promise only while the subject's salt is
   * not in memory.
   */
  sealFor(purpose: string, subject: Subject): Awaitable<(text: string) => string>
  /** Whether a text has the sealed form. */
  isSealed(text: string): boolean
  /**
   * The text behind a sealed one; undefined after its subject was erased. Rejects with `SECRET_UNREADABLE` when it was
   * altered or is of another purpose.
   */
  open(purpose: string, sealed: string): Promise<string | undefined>
  /**
   * Gives a function that makes commitments to facts about a subject, for records that are never changed: HMAC-SHA-256 of the
   * purpose and the text under the subject's salt. Equal texts have equal commitments; after an erasure nothing shows what one
   * was made of. A promise only while the subject's salt is not in memory.
   */
  commitFor(purpose: string, subject: Subject): Awaitable<(text: string) => string>
  /**
   * Names under which a text can be stored and found again without being told: HMAC-SHA-256 under the encryption key, for one
   * purpose. Store the first; look for all of them, because the encryption key may have been another one before. They belong to no
   * subject, so an erasure does not change them.
   */
  namesOf(purpose: string, text: string): readonly string[]
}

export const Sealing = guardedToken<Sealing>('sealing')

/** Whose keys the bodies of traces are sealed under; one module offers it. */
export interface SealedBodies {
  /** Undefined where the bodies of this caller are stored as they are. */
  subjectOf(caller: Pick<Principal, 'userId' | 'tenant'>): Subject | undefined
}

export const SealedBodies = token<SealedBodies>('sealed-bodies')

/** The verdict of `Signing` on bytes. */
export interface Signature {
  /** The key's JWK thumbprint (RFC 7638). */
  readonly key_id: string
  /** Ed25519 (RFC 8032), in base64url. */
  readonly signature: string
}

/** A key by which signatures are checked, also without the gateway. */
export interface SigningKey {
  readonly id: string
  readonly algorithm: 'Ed25519'
  /** SubjectPublicKeyInfo in PEM. */
  readonly public_key: string
  readonly created_at: string
  /** Absent for the key that signs now. */
  readonly retired_at?: string | undefined
}

/** Signs what leaves the gateway, so that others can check its origin and that it is unchanged. */
export interface Signing {
  sign(bytes: Uint8Array): Promise<Signature>
  /** Whether a key of this gateway, retired or not, has signed these bytes. */
  verify(bytes: Uint8Array, signature: Signature): Promise<boolean>
  /** All keys, newest first. */
  keys(): Promise<SigningKey[]>
  /** Has a new key sign from now on. The keys before it still verify. */
  rotate(): Promise<SigningKey>
}

export const Signing = guardedToken<Signing>('signing')
