using System.Globalization;
using QuickSilver.Core.Storage;

namespace QuickSilver.Membership.Service;

// The epoch as one line of text. The new line is written to a second file, which then replaces the first one, so a crash leaves the old
// line or the new one. The directory is flushed last: without that, the old file may come back after a loss of power.
/// <param name="path">The file.</param>
/// <param name="flushDirectory">Makes the entries of a directory durable; null: as the operating system does it. For tests.</param>
internal sealed class FileMembershipStore(string path, Action<string>? flushDirectory = null) : IMembershipStore
{
    public long LoadEpoch()
    {
        if (!File.Exists(path))
        {
            return 0;
        }

        string text = File.ReadAllText(path).Trim();
        return long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long epoch)
            ? epoch
            : throw new InvalidDataException($"'{path}' contains no epoch. Delete it to take the epoch from returning nodes.");
    }

    public void SaveEpoch(long epoch)
    {
        string beside = path + ".new";
        try
        {
            using (var stream = new FileStream(beside, FileMode.Create, FileAccess.Write))
            {
                stream.Write(System.Text.Encoding.ASCII.GetBytes(epoch.ToString(CultureInfo.InvariantCulture) + "\n"));
                stream.Flush(flushToDisk: true);
            }

            File.Move(beside, path, overwrite: true);
            (flushDirectory ?? DirectoryFlush.Of)(Path.GetDirectoryName(Path.GetFullPath(path))!);
        }
        catch (UnauthorizedAccessException refused)
        {
            throw new IOException(refused.Message, refused);
        }
    }
}
