import type { Conversation } from '../attacks/conversation.ts'
import type { Asked } from './said.ts'

/** What is attacked. */
export interface Target {
  /** `gateway`, or the address. */
  readonly name: string
  /**
   * Sends an attack and says what came of it. Rejects where it may not be sent at all, and with the reason of the signal. Nothing that
   * could cost more than `maxCostUsd` is sent.
   */
  ask(conversation: Conversation, options: AskOptions): Promise<Asked>
}

export interface AskOptions {
  readonly signal: AbortSignal
  readonly maxCostUsd?: number | undefined
}
