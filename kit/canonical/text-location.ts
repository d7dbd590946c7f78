/** Where a text stands. */
export interface TextLocation {
  readonly direction: 'request' | 'reply'
  readonly role: string
  /**
   * `arguments` is the JSON text of a tool call, read with its escapes decoded; a replacement in it is escaped. `parameter` is
   * any other string of a request: a tool's description, `user`, `metadata`. `address` is a piece of the address of a picture or a
   * file: its place, or a `name=value` of its query.
   */
  readonly kind: 'content' | 'reasoning' | 'refusal' | 'arguments' | 'parameter' | 'address'
  /** Content of an answer that is held to a schema or to JSON: read like `arguments`. */
  readonly isJson?: boolean
  /** The module that brought the text into the call; absent for what the client or the model said. */
  readonly origin?: string
}
