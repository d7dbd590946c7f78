import type { ContentPart } from '#kernel'

/** The text of a part of a message; undefined for a part that is no text. */
export function textOf(part: ContentPart): string | undefined {
  const { text, refusal }: Readonly<Record<string, unknown>> = { ...part }
  const said = text ?? refusal
  return typeof said === 'string' ? said : undefined
}
