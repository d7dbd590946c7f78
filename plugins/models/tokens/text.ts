import type { ContentPart } from '#kernel'

/** What a part of a message says; undefined for one that is no text. */
export function textOf(part: ContentPart): string | undefined {
  const { text, refusal }: Readonly<Record<string, unknown>> = { ...part }
  const said = text ?? refusal
  return typeof said === 'string' ? said : undefined
}
