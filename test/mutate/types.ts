import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { applied, type Mutant, type Source } from './mutants.ts'

const folder = '.mutate/types'

/**
 * The mutants that the type checker refuses: nobody could commit them. Each stands as a copy of its file in a folder of its
 * own, which the checker lays over the real one; all are checked at once.
 */
export async function refusedByTypes(
  sources: readonly Source[],
  mutants: readonly Mutant[],
): Promise<string[]> {
  await rm(folder, { recursive: true, force: true })
  if (mutants.length === 0) return []
  const files = await Promise.all(
    mutants.map(async (mutant) => {
      const file = path.join(folder, mutant.id, mutant.file)
      await mkdir(path.dirname(file), { recursive: true })
      const source = sources.find((one) => one.file === mutant.file)!
      await writeFile(file, applied(source, mutant))
      return file
    }),
  )
  const roots = mutants.map(({ id }) => `./${id}`)
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: { rootDirs: ['../..', ...roots] },
    files: files.map((file) => path.relative(folder, file)),
    include: [],
  }
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
  const output = await new Promise<string>((resolve) => {
    execFile('npx', ['tsc', '-p', folder, '--pretty', 'false'], { maxBuffer: 1 << 28 }, (_, stdout) =>
      resolve(stdout),
    )
  })
  const refused = [...output.matchAll(/^\.mutate\/types\/(\d+)\/.*error TS(\d+)/gm)]
  // A name that is not used any more is for the linter, and a mutant leaves many.
  const isReal = (code: string): boolean => !['6133', '6192', '6196', '6198', '6199'].includes(code)
  return [...new Set(refused.filter(([, , code]) => isReal(code!)).map(([, id]) => id!))]
}
