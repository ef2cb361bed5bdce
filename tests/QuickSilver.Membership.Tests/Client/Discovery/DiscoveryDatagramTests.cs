using System.Net;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Protocol;

namespace QuickSilver.Membership.Tests.Client.Discovery;

public sealed class DiscoveryDatagramTests
{
    [Fact]
    public void A_written_datagram_is_read_with_an_address_of_either_kind()
    {
        var parts = ArbMap.Default.ArbFor<(ulong Cluster, ulong Host, ushort Port, ulong High, ulong Low, bool IsIpv6)>();
        Prop.ForAll(parts, one => TryOne(one.Cluster, one.Host, one.Port, one.High, one.Low, one.IsIpv6))
            .Check(Config.QuickThrowOnFailure);
    }

    private static void TryOne(ulong cluster, ulong host, ushort port, ulong high, ulong low, bool isIpv6)
    {
        byte[] address = [.. BitConverter.GetBytes(high), .. BitConverter.GetBytes(low)];
        var endPoint = new IPEndPoint(new IPAddress(isIpv6 ? address : address[..4]), Math.Max((int)port, 1));
        var standing = new HostStanding(host, (int)(low >> 40), (long)high);
        var written = new DiscoveryDatagram(DiscoveryKind.Answer, cluster, ~host, standing, endPoint, ~cluster);
        byte[] bytes = new byte[DiscoveryDatagram.MostBytes];
        int length = written.Write(bytes);
        Assert.Equal(isIpv6 ? 80 : 64, length);
        Assert.Equal(length, DiscoveryDatagram.LengthOf(bytes.AsSpan(0, length)));
        bool isOfMany = isIpv6 ? address[0] == 0xff : address[0] >= 224;
        Assert.Equal(!isOfMany, DiscoveryDatagram.TryRead(bytes.AsSpan(0, length), out var read));
        Assert.Equal(isOfMany ? default : written, read);
        Assert.False(DiscoveryDatagram.TryRead(bytes.AsSpan(0, length - 1), out _));
    }

    [Fact]
    public void Random_bytes_are_read_or_refused() => Prop.ForAll<byte[]>(TryTail).Check(Config.QuickThrowOnFailure);

    private static void TryTail(byte[] tail)
    {
        byte[] bytes = [.. "QSD2"u8, .. tail];
        _ = DiscoveryDatagram.TryRead(bytes, out _);
        if (bytes.Length >= 64)
        {
            Assert.InRange(DiscoveryDatagram.LengthOf(bytes), 64, 80);
        }
    }
}
