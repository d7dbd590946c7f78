/** The body of a request as it comes: bytes, no faster than they are read. Reading throws when the client leaves. */
export interface Upload extends AsyncIterable<Uint8Array> {
  /** As the client named it in `Content-Type`. */
  readonly type: string | undefined
  /** In bytes, where the client said so and compressed nothing. */
  readonly size: number | undefined
}

export interface BodyOptions {
  /** In bytes, once inflated; over it the request is refused with 413. `server.body_limit` without it. */
  readonly maxBytes?: number
  /** Media types that are taken, such as `text/csv` or `image/*`; any without it. */
  readonly types?: readonly string[]
}

/** The body of a route that is no JSON. */
export interface BodyForm<B> extends BodyOptions {
  readonly form: 'raw' | 'streamed'
  /** The type of the body that `handle` gets; for the compiler, never there. */
  readonly given?: B
}

/** For `body` of a route that is given all bytes at once. */
export const rawBody = (options: BodyOptions = {}): BodyForm<Buffer> => ({ ...options, form: 'raw' })

/** For `body` of a route that reads the bytes as they come, so that none has to be kept in memory. */
export const streamedBody = (options: BodyOptions = {}): BodyForm<Upload> => ({
  ...options,
  form: 'streamed',
})
