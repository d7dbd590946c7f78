/** A citation as OpenAI's clients know it where it is of the web; any other stays what it is. */
export function annotationOf(citation: unknown): unknown {
  const { type, url, title } = (citation ?? {}) as { type?: unknown; url?: unknown; title?: unknown }
  return type === 'web_search_result_location'
    ? { type: 'url_citation', url_citation: { url, title } }
    : citation
}
