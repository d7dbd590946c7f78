/** Tests a name against globs: `*` stands for any characters, `?` for one; the rest is literal, case does not count. */
export function compileGlobs(globs: readonly string[]): (name: string) => boolean {
  const exact = new Set(globs.filter((glob) => !/[*?]/.test(glob)).map((glob) => glob.toLowerCase()))
  const patterns = globs.filter((glob) => /[*?]/.test(glob)).map((glob) => glob.toLowerCase())
  return (name) => {
    const lower = name.toLowerCase()
    return exact.has(lower) || patterns.some((pattern) => globMatches(pattern, lower))
  }
}

/** Linear in pattern times name, without backtracking into earlier stars: safe for patterns that strangers write. */
function globMatches(pattern: string, name: string): boolean {
  let p = 0
  let n = 0
  let star = -1
  let mark = 0
  while (n < name.length) {
    if (p < pattern.length && pattern[p] !== '*' && (pattern[p] === '?' || pattern[p] === name[n])) {
      p += 1
      n += 1
    } else if (pattern[p] === '*') {
      star = p
      mark = n
      p += 1
    } else if (star !== -1) {
      p = star + 1
      mark += 1
      n = mark
    } else return false
  }
  while (pattern[p] === '*') p += 1
  return p === pattern.length
}
