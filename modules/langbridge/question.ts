import type { Call, Message } from '#kernel'
import { messageTexts } from '#kit'
import { Passages } from './passages.ts'
import type { Translator } from './translator.ts'

/** What the user said last: its texts, and its place among the messages. */
export interface Question {
  readonly at: number
  readonly message: Message
  readonly texts: readonly string[]
}

/** The last message of the user that has a text. */
export function questionOf({ request: { messages = [] } }: Call): Question | undefined {
  const at = messages.findLastIndex((message) => message.role === 'user')
  const message = messages[at]
  if (!message) return undefined
  const texts = messageTexts(message)
  return texts.every((text) => text.trim() === '') ? undefined : { at, message, texts }
}

/** The call with the question in another language. Throws `Untranslated`. */
export async function asked(
  call: Call,
  { at, message }: Question,
  { translator, from, to }: { readonly translator: Translator; readonly from: string; readonly to: string },
): Promise<Call> {
  const translated = (text: string): Promise<string> =>
    translator.translate(new Passages().end(text), from, to, call)
  const { content } = message
  const parts =
    typeof content === 'string'
      ? await translated(content)
      : await Promise.all(
          (content ?? []).map(async (part) =>
            typeof part.text === 'string' && /\p{L}/u.test(part.text)
              ? { ...part, text: await translated(part.text) }
              : part,
          ),
        )
  const messages = call.request.messages!.with(at, { ...message, content: parts })
  return call.withRequest({ messages })
}
