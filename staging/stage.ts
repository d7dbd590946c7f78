import { createHash } from 'node:crypto'
import {
  copyFile,
  link,
  mkdir,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import path from 'node:path'
import { type Content, readContent } from './content.ts'
import { resolveStaged, type StagedFolder } from './imports.ts'

/** A copy of a plugin's folder that never changes: other content is another copy, under another path. */
export interface Staged extends StagedFolder {
  /** Hash of the content. */
  readonly content: string
  /** Keeps it on disk until the returned function is called. */
  hold(): () => void
  /** Whether its code could not be imported. */
  readonly spoiled: boolean
  /** Says that its code could not be imported: the runtime never tries the same path a second time. */
  spoil(): void
}

interface Copy extends Staged {
  readonly name: string
  /** The beginning of the name of every copy of this content. */
  readonly key: string
  holders: number
  spoiled: boolean
}

/**
 * Where plugins from outside are imported from. A module that was imported once is never read again by the runtime,
 * so changed code must have another path: each content gets its own. Copies that are no longer held are removed.
 */
export class Stage {
  readonly #root: string
  readonly #copies = new Map<string, Copy>()
  /** Taken, but not yet assigned to a holder. */
  readonly #fresh = new Set<Copy>()
  /** How often the import of a content failed. */
  readonly #spoiled = new Map<string, number>()
  readonly #deregister: () => void
  readonly #failed: (error: unknown) => void
  #work: Promise<unknown> = Promise.resolve()

  private constructor(root: string, failed: (error: unknown) => void) {
    this.#root = root
    this.#failed = failed
    this.#deregister = resolveStaged(root, (name) => this.#copies.get(name)?.lookups)
  }

  /**
   * Empties the folder: what an earlier process left there is of no use. `failed` gets the error of a copy that could not be
   * removed.
   */
  static async open(root: string, failed: (error: unknown) => void): Promise<Stage> {
    await rm(root, { recursive: true, force: true })
    await mkdir(root, { recursive: true })
    await writeFile(path.join(root, 'package.json'), '{ "type": "module" }\n')
    return new Stage(await realpath(root), failed)
  }

  /**
   * The copy of what the folder holds now, made if there is none; it stays at least until `settle`. With `again`, a
   * copy whose import failed is replaced by another. Throws a readable error for folders that cannot be taken.
   */
  take(id: string, folder: string, again = false): Promise<Staged> {
    return this.#alone(async () => {
      const content = await readContent(folder)
      const key = `${plain(id)}@${keyOf(content, folder)}`
      const known = [...this.#copies.values()].findLast((copy) => copy.key === key)
      const copy = known && !(again && known.spoiled) ? known : await this.#make(id, key, folder, content)
      this.#fresh.add(copy)
      return copy
    })
  }

  /** Removes copies that are no longer held. */
  settle(): Promise<void> {
    return this.#alone(async () => {
      this.#fresh.clear()
      for (const copy of this.#copies.values()) await this.#remove(copy)
    })
  }

  /** Ends the resolving of imports; copies stay on disk until the next start. */
  async close(): Promise<void> {
    await this.#work
    this.#deregister()
  }

  async #make(id: string, key: string, folder: string, content: Content): Promise<Copy> {
    const failures = this.#spoiled.get(key)
    const name = failures ? `${key}-${failures + 1}` : key
    const root = path.join(this.#root, name)
    const making = `${root}.tmp`
    await mkdir(making, { recursive: true })
    for (const [file, data] of content.files) {
      const at = path.join(making, file)
      await mkdir(path.dirname(at), { recursive: true })
      await writeFile(at, data)
    }
    await rm(root, { recursive: true, force: true })
    await rename(making, root)
    const dependencies = content.dependencies && (await this.#link(id, content.dependencies, folder))
    const copy: Copy = {
      root,
      name,
      key,
      content: content.hash,
      lookups: [...(dependencies ? [dependencies] : []), folder],
      holders: 0,
      spoiled: false,
      hold: () => this.#hold(copy),
      spoil: () => {
        if (!copy.spoiled) this.#spoiled.set(key, (failures ?? 0) + 1)
        copy.spoiled = true
      },
    }
    this.#copies.set(name, copy)
    return copy
  }

  /** The tree of the plugin's packages, shared by all its copies as long as the packages are the same. */
  async #link(id: string, dependencies: string, folder: string): Promise<string> {
    const root = path.join(this.#root, `${plain(id)}+${dependencies.slice(0, 16)}`)
    const there = await stat(root).catch(() => undefined)
    if (!there) await linkTree(path.join(folder, 'node_modules'), path.join(root, 'node_modules'))
    return root
  }

  #hold(copy: Copy): () => void {
    let held = true
    copy.holders += 1
    return () => {
      if (!held) return
      held = false
      copy.holders -= 1
      if (copy.holders === 0) this.#alone(() => this.#remove(copy)).catch(this.#failed)
    }
  }

  async #remove(copy: Copy): Promise<void> {
    if (copy.holders > 0 || this.#fresh.has(copy)) return
    this.#copies.delete(copy.name)
    await rm(copy.root, { recursive: true, force: true })
    const linked = copy.lookups.length > 1 ? copy.lookups[0] : undefined
    const shared = [...this.#copies.values()].some(({ lookups }) => lookups[0] === linked)
    if (linked && !shared) await rm(linked, { recursive: true, force: true })
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#work.then(work)
    this.#work = result.catch(() => {})
    return result
  }
}

/** The same code in another folder has other packages, so it is another copy. */
const keyOf = ({ hash }: Content, folder: string): string =>
  createHash('sha256').update(`${hash}\0${folder}`).digest('hex').slice(0, 16)

/** An id as part of a file's name: what is no id may be a package's name, or any folder's. */
const plain = (id: string): string => id.replaceAll(/[^\w.-]/g, '_')

/**
 * A second tree of the same files, by hard links, so that even big ones cost next to nothing; where the file system
 * cannot link they are copied. Links inside point to where the originals lead.
 */
async function linkTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name)
    const target = path.join(to, entry.name)
    if (entry.isDirectory()) await linkTree(source, target)
    else if (entry.isSymbolicLink()) await linkAlias(source, target)
    else if (entry.isFile()) await link(source, target).catch(() => copyFile(source, target))
  }
}

/** A link that leads nowhere is left out, because it cannot be used. */
async function linkAlias(source: string, target: string): Promise<void> {
  const real = await realpath(source).catch(() => undefined)
  if (real !== undefined) await symlink(real, target)
}
