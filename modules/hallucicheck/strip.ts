import type { Completion } from '#kernel'
import { mapReplyTexts } from '#kit'
import type { Unsupported } from './unsupported.ts'

const fenced = /(```[\s\S]*?(?:```|$))/
/** A sentence with the white space behind it, or a line. */
const sentence = /[^\n]*?(?:[.!?…。！？]+["”»)\]]*(?=\s|$)[^\S\n]*|\n|$)/g

/** The answer without the sentences that say something unsupported; code stays. */
export function stripped(body: Completion, unsupported: readonly Unsupported[]): Completion {
  const says = (text: string): boolean => unsupported.some((one) => text.includes(one.text))
  const rid = (text: string): string => (text.match(sentence) ?? []).filter((one) => !says(one)).join('')
  return mapReplyTexts(body, (text, { kind }) =>
    kind !== 'content'
      ? text
      : text
          .split(fenced)
          .map((part) => (fenced.test(part) ? part : rid(part)))
          .join('')
          .trimEnd(),
  )
}
