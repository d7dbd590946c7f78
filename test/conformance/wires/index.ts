import { chat } from './chat.ts'
import type { ClientWire } from './client.ts'
import { completions } from './completions.ts'
import { gemini } from './gemini.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

/** The wires of the table, in its order. A new one is a file here and a line in this list. */
export const wires: readonly ClientWire[] = [chat, completions, messages, responses, gemini]
