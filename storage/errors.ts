/** The errors of a store, by code. */
export type StoreErrorCode =
  | 'STORE_LOCKED'
  | 'STORE_CLOSED'
  | 'STORE_FAILED'
  | 'STORE_DAMAGED'
  | 'NAME_INVALID'
  | 'ID_INVALID'
  | 'ROW_INVALID'
  | 'ROW_UNREADABLE'
  | 'ROW_EXISTS'
  | 'BODY_GONE'
  | 'REQUIREMENT_FAILED'
  | 'INDEX_UNKNOWN'
  | 'QUERY_INVALID'
  | 'AMOUNT_INVALID'
  | 'VERSION_AHEAD'
  | 'LISTENER_FAILED'

/** An error of the store. The message says what to do and never quotes a row. */
export class StoreError extends Error {
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'StoreError'
    this.code = code
  }
}
