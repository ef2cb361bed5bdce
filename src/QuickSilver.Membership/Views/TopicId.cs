using System.Text;

namespace QuickSilver.Membership.Views;

// A topic's number on the wire: FNV-1a over its UTF-8 name, so that every node computes the same and a restarted service
// needs no table. The contract registry refuses a name whose number another name already has.
internal static class TopicId
{
    public static ulong Of(string name)
    {
        const ulong OffsetBasis = 14695981039346656037;
        const ulong Prime = 1099511628211;
        ulong hash = OffsetBasis;
        foreach (byte b in Encoding.UTF8.GetBytes(name))
        {
            hash = (hash ^ b) * Prime;
        }

        return hash;
    }
}
