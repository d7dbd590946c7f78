import { readdir, rm, statfs } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { type Context, conflict, internalError, kernelServices, notFound, unavailable } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import { backupNote, makeBackup, readBackup } from '../backup/backup.ts'
import { sizeOf } from '../backup/data-files.ts'

const backup = backupNote.extend({
  id: z.string().meta({ description: 'Id of the backup, made from its time.' }),
  folder: z.string().meta({ description: "Folder of the backup on the gateway's machine." }),
})

/** Copies of the data folder, made while the gateway runs. They lie in it and never go over the wire. */
export function addBackupRoutes({ route, use }: Context<unknown>): void {
  const { dataDir, storage } = use(kernelServices.config)
  const all = path.join(dataDir, 'backups')
  let isMaking = false

  const find = async (id: string): Promise<z.infer<typeof backup> | undefined> => {
    const folder = path.join(all, id)
    const note = await readBackup(folder)
    return note && { id, folder, ...note }
  }

  /** Throws where the disk would be short of space with another copy of the store on it. */
  const demandRoom = async (): Promise<void> => {
    const needed = (await sizeOf(path.join(dataDir, 'db'))) + storage.minFree
    const { bavail, bsize } = await statfs(dataDir)
    if (bavail * bsize >= needed) return
    const megabytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MB`
    const message = `A backup needs ${megabytes(needed)} of free space, and ${megabytes(bavail * bsize)} are free.`
    throw internalError(message, unavailable)
  }

  route({
    method: 'post',
    path: '/api/backups',
    access: 'admin',
    summary: 'Make a consistent copy of the data folder in its folder backups',
    body: z.strictObject({
      key: z
        .boolean()
        .default(true)
        .meta({ description: 'Whether to copy the files of the encryption key too.' }),
    }),
    returns: backup,
    status: 201,
    throws: [409, 503],
    async handle({ body: { key } }) {
      if (isMaking) throw conflict('A backup is already being made; try again when it is complete.')
      isMaking = true
      try {
        await demandRoom()
        const id = new Date().toISOString().toLowerCase().replaceAll(/[:.]/g, '-')
        const folder = path.join(all, id)
        const { version } = use(kernelServices.runtime)
        const copyStore = (at: string): Promise<void> => use(kernelServices.storage).copyTo(at)
        const note = await makeBackup(folder, { dataDir, copyStore, version, withKey: key })
        return { id, folder, ...note }
      } finally {
        isMaking = false
      }
    },
  })

  route({
    method: 'get',
    path: '/api/backups',
    access: 'admin',
    summary: 'The backups in the data folder, newest first',
    query: listQuery,
    returns: listOf('backups', backup),
    async handle({ query }) {
      const names = await readdir(all).catch(() => [])
      const found = await Promise.all(names.sort().reverse().map(find))
      const items = found.filter((one) => one !== undefined)
      return listed(
        'backups',
        pageOf(items, query, ({ id }) => id),
        query,
      )
    },
  })

  route({
    method: 'delete',
    path: '/api/backups/{id}',
    access: 'admin',
    summary: 'Delete a backup in the data folder',
    params: z.strictObject({ id: z.string().regex(/^[\da-z-]+$/) }),
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    async handle({ params: { id } }) {
      const found = await find(id)
      if (!found) throw notFound(`There is no backup ${id}.`, { param: 'id' })
      await rm(found.folder, { recursive: true })
      return { deleted: true as const, id }
    },
  })
}
