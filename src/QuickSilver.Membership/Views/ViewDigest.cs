using System.Buffers.Binary;
using System.Security.Cryptography;

namespace QuickSilver.Membership.Views;

// Stands for the content of a view of a region: two views with one digest are the same view. Members report it to a service that did not
// make the view, which so learns whether all of them hold the view that it would make, without a list of the members from each.
internal readonly record struct ViewDigest(ulong High, ulong Low)
{
    public static ViewDigest Of(RegionView view)
    {
        using var content = new MemoryStream();
        using var writer = new BinaryWriter(content);
        writer.Write(view.RegionId);
        writer.Write(view.Number);
        writer.Write(view.Configuration);
        byte[] group = view.Group?.Address.GetAddressBytes() ?? [];
        writer.Write(group.Length);
        writer.Write(group);
        writer.Write(view.Group?.Port ?? 0);
        writer.Write(view.Repair.Replicas);
        writer.Write(view.Repair.RingSize);
        writer.Write(view.Members.Length);
        foreach (var member in view.Members)
        {
            writer.Write(member.Id);
            writer.Write(member.Incarnation);
        }

        writer.Write(view.Since.Length);
        foreach (long since in view.Since)
        {
            writer.Write(since);
        }

        writer.Flush();
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(content.GetBuffer().AsSpan(0, (int)content.Length), hash);
        return new ViewDigest(BinaryPrimitives.ReadUInt64LittleEndian(hash), BinaryPrimitives.ReadUInt64LittleEndian(hash[8..]));
    }
}
