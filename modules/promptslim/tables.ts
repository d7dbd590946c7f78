const row = /^\s*\|.*\|\s*$/
const rule = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/
const quotes = /["`“„«]/

/** Lines of which those of Markdown tables have no padding any more; a row with code or quotations stays. */
export function withoutPadding(lines: readonly string[]): string[] {
  const slim: string[] = []
  let isTable = false
  for (const [at, line] of lines.entries()) {
    isTable = row.test(line) && (isTable || rule.test(lines[at + 1] ?? ''))
    slim.push(isTable && !quotes.test(line) ? cells(line) : line)
  }
  return slim
}

function cells(line: string): string {
  const slim = line
    .trim()
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .join('|')
  return rule.test(line) ? slim.replace(/-+/g, '-') : slim
}
