import type { JobError, Secrets } from '#kernel'

/**
 * Contents of jobs as they lie on disk: encrypted JSON. Those of earlier versions are plain JSON, and never have the
 * encrypted form.
 */
export class Contents {
  readonly #secrets: Pick<Secrets, 'encrypt' | 'decrypt' | 'isEncrypted'>

  /** `secrets` are those of the gateway. */
  constructor(secrets: Secrets) {
    this.#secrets = secrets.derive('jobs')
  }

  /** The sealed form of plain JSON; undefined stays. */
  seal(value: unknown): string | undefined {
    const text = JSON.stringify(value)
    return text === undefined ? undefined : this.#secrets.encrypt(text)
  }

  /** What was sealed. Throws `SECRET_UNREADABLE` if the encryption key is another one. */
  open(kept: unknown): unknown {
    return this.#isSealed(kept) ? JSON.parse(this.#secrets.decrypt(kept)) : kept
  }

  /** The same for those who look at a job: undefined where it cannot be read. */
  show(kept: unknown): unknown {
    try {
      return this.open(kept)
    } catch {
      return undefined
    }
  }

  /** An error with its message sealed; the code stays. */
  sealError(error: JobError): JobError {
    return { ...error, message: this.seal(error.message)! }
  }

  /** An error with its message; an empty one where it cannot be read. */
  showError(error: JobError): JobError {
    return { ...error, message: String(this.show(error.message) ?? '') }
  }

  #isSealed(kept: unknown): kept is string {
    return typeof kept === 'string' && this.#secrets.isEncrypted(kept)
  }
}
