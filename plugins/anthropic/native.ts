import type { Call } from '#kernel'

/** A content block of a message, whatever its type. */
export interface Block {
  readonly type: string
  readonly [field: string]: unknown
}

export interface Turn {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: string | readonly Block[]
}

/** Whether the caller speaks this protocol itself: then nothing of what it says is fitted or left out. */
export const isNative = (call: Call): boolean => call.wire === 'messages'
