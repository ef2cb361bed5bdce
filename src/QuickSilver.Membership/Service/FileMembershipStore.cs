using System.Globalization;

namespace QuickSilver.Membership.Service;

// The epoch as one line of text. Written beside and moved over, so that a crash leaves the old line or the new one.
internal sealed class FileMembershipStore(string path) : IMembershipStore
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
        }
        catch (UnauthorizedAccessException refused)
        {
            throw new IOException(refused.Message, refused);
        }
    }
}
