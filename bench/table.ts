/** A row of figures; the keys are the columns, units in their names. */
export type Row = Readonly<Record<string, string | number>>

/** One table of results, the same for readers and for programs. */
export interface Table {
  readonly title: string
  readonly notes: readonly string[]
  readonly rows: readonly Row[]
}

/** The table as Markdown. */
export function markdown({ title, notes, rows }: Table): string {
  const columns = Object.keys(rows[0] ?? {})
  const lines = rows.map((row) => line(columns.map((column) => format(row[column]))))
  const alignment = columns.map((column) => (typeof rows[0]?.[column] === 'number' ? '--:' : '---'))
  const head = [line(columns.map((column) => column.replaceAll('_', ' '))), line(alignment)]
  return [`### ${title}`, ...notes, [...head, ...lines].join('\n')].join('\n\n')
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function format(value: string | number | undefined): string {
  if (typeof value !== 'number') return value ?? ''
  if (Number.isNaN(value)) return '–'
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
