/** What a cell was found to be. */
export type Finding = 'yes' | 'dropped' | 'refused' | 'none' | 'failed'

export interface Row {
  readonly wire: string
  readonly path: string
  readonly provider: string
  readonly findings: Readonly<Record<string, Finding>>
  /** What is dropped or refused, by feature. */
  readonly named: Readonly<Record<string, string>>
}

const signs: Readonly<Record<Finding, string>> = {
  yes: '✓',
  dropped: 'dropped',
  refused: 'refused',
  none: '—',
  failed: '**fails**',
}

const preface = `# Conformance

What each wire carries to each provider and back. Each cell is a test in \`test/conformance\` with an official client of the wire, a
running gateway, and a fake provider that refuses what the real service refuses. \`npm run conformance\` writes this page. A test fails
when a result differs from it.

✓ carried both ways, plain and streamed · *dropped* left out and named in \`X-Params-Changed\` and in the trace · *refused* answered
with 400 and the field's name · — does not apply, because the wire or the provider lacks it
`

/** The table as Markdown: one section for each wire. */
export function markdown(rows: readonly Row[], features: readonly string[]): string {
  const wires = [...new Set(rows.map(({ wire }) => wire))]
  return [
    preface,
    ...wires.map((wire) =>
      section(
        rows.filter((row) => row.wire === wire),
        features,
      ),
    ),
  ].join('\n')
}

function section(rows: readonly Row[], features: readonly string[]): string {
  const lines = rows.map(({ provider, findings }) =>
    line([provider, ...features.map((feature) => signs[findings[feature] ?? 'none'])]),
  )
  const notes = rows.flatMap(({ provider, findings, named }) =>
    Object.entries(named).map(
      ([feature, field]) => `- ${provider}, ${feature}: \`${field}\` is ${findings[feature]}.`,
    ),
  )
  return [
    `## ${rows[0]!.path}`,
    '',
    line(['provider', ...features]),
    line(['---', ...features.map(() => '---')]),
    ...lines,
    '',
    ...(notes.length > 0 ? [...notes, ''] : []),
  ].join('\n')
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
