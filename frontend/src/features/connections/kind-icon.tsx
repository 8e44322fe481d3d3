import { IconAntenna, IconApi, IconBucket, IconDatabase, IconFolders, IconMail, IconMailbox, IconPlug, IconRocket, IconStack2, IconTopologyStar3, IconWebhook, type Icon } from '@tabler/icons-react'

const ICONS: Record<string, Icon> = { antenna: IconAntenna, api: IconApi, bucket: IconBucket, database: IconDatabase, folders: IconFolders, mail: IconMail, mailbox: IconMailbox, rocket: IconRocket, 'stack-2': IconStack2, 'topology-star-3': IconTopologyStar3, webhook: IconWebhook }

export function KindIcon({ icon }: { icon: string }) {
  const Shape = ICONS[icon] ?? IconPlug
  return <Shape size={16} stroke={1.75} aria-hidden />
}
