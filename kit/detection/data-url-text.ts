const textual =
  /^data:(?<type>text\/[\w.+-]+|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|csv|javascript|sql|x-ndjson))(?<more>(?:;[\w-]+=[^;,]*)*)(?<base64>;base64)?,/i

/**
 * A data URL with the text that it carries passed through `change`; the same string where that is not changed, and where it carries
 * no text. What is changed is written in UTF-8 and base64.
 */
export function mapDataUrlText(url: string, change: (text: string) => string): string {
  const match = textual.exec(url)
  if (!match) return url
  const { type, more = '', base64 } = match.groups as { type: string; more?: string; base64?: string }
  const body = url.slice(match[0].length)
  const bytes = base64 ? Buffer.from(body, 'base64') : percentDecoded(body)
  const text = decoderFor(/;charset="?([^;"]+)/i.exec(more)?.[1]).decode(bytes)
  const changed = text === '' ? text : change(text)
  if (changed === text) return url
  const about = more.replace(/;charset=[^;]*/i, ';charset=utf-8')
  return `data:${type}${about};base64,${Buffer.from(changed).toString('base64')}`
}

/** Bytes that are written as themselves or as %xx; what is neither stays as it is. */
function percentDecoded(body: string): Buffer {
  const parts = body.split(/((?:%[\da-f]{2})+)/i)
  return Buffer.concat(
    parts.map((part, i) =>
      Buffer.from(i % 2 === 1 ? part.replaceAll('%', '') : part, i % 2 === 1 ? 'hex' : 'utf8'),
    ),
  )
}

function decoderFor(charset = 'utf-8'): TextDecoder {
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}
