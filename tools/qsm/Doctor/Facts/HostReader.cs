using System.Globalization;
using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Tool.Doctor.Checks;

namespace QuickSilver.Tool.Doctor.Facts;

// What the system reports about this host, without network traffic.
internal static class HostReader
{
    private const string Kernel = "/proc/sys/net/core/";
    // The first is of version 2 inside of a container, the other of version 1.
    private static readonly string[] MemoryLimits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    // Version 1 writes a number like this where there is no limit.
    private const long NoLimit = 1L << 60;

    public static (BufferFacts Receive, BufferFacts Send) ReadBuffers(int receiveBytes, int sendBytes)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        return (
            Buffer("net.core.rmem_max", receiveBytes, SocketBuffers.AskReceive(socket, receiveBytes)),
            Buffer("net.core.wmem_max", sendBytes, SocketBuffers.AskSend(socket, sendBytes)));
    }

    // Linux accounts twice what is asked for.
    private static BufferFacts Buffer(string setting, int asked, int given) => new(
        setting, asked, OperatingSystem.IsLinux() ? given / 2 : given, ReadNumber(Kernel + setting[(setting.LastIndexOf('.') + 1)..]));

    /// <summary>The interface with an address: its MTU, its subnet, and whether it carries multicast.</summary>
    public static (int? Mtu, IPNetwork? Subnet, bool CarriesMulticast) ReadInterface(string? name, IPAddress local)
    {
        var found = NetworkInterface.GetAllNetworkInterfaces().FirstOrDefault(one => one.Name == name);
        var properties = found?.GetIPProperties();
        var address = properties?.UnicastAddresses.FirstOrDefault(one => one.Address.Equals(local));
        IPNetwork? subnet = address is null ? null : Subnet(local, address.PrefixLength);
        // Linux carries multicast on its loopback interface, and does not say so.
        return (Mtu(properties, local), subnet, found is null || IPAddress.IsLoopback(local) || found.SupportsMulticast);
    }

    private static int? Mtu(IPInterfaceProperties? properties, IPAddress local) => local.AddressFamily == AddressFamily.InterNetworkV6
        ? properties?.GetIPv6Properties()?.Mtu
        : properties?.GetIPv4Properties()?.Mtu;

    public static DescriptorFacts ReadDescriptors(long regions, int nodes) => new(DescriptorRoom.ReadLimit(), regions, nodes);

    public static MemoryFacts ReadMemory(NodeLimits limits)
    {
        long? container = MemoryLimits.Select(ReadNumber).FirstOrDefault(static limit => limit is not null);
        return new MemoryFacts(
            limits.BufferBytes,
            limits.ReceivedMessageBytes,
            GC.GetGCMemoryInfo().TotalAvailableMemoryBytes,
            container is { } limit and < NoLimit ? limit : null,
            // Also of a limit that is a share of the memory, or that follows from that of a container.
            GC.GetConfigurationVariables().GetValueOrDefault("GCHeapHardLimit") is not 0L);
    }

    private static IPNetwork Subnet(IPAddress address, int prefix)
    {
        byte[] bytes = address.GetAddressBytes();
        for (int bit = prefix; bit < bytes.Length * 8; bit++)
        {
            bytes[bit / 8] &= (byte)~(0x80 >> (bit % 8));
        }

        return new IPNetwork(new IPAddress(bytes), prefix);
    }

    private static long? ReadNumber(string file) =>
        long.TryParse(ReadLines(file).FirstOrDefault(), NumberStyles.None, CultureInfo.InvariantCulture, out long number) ? number : null;

    private static string[] ReadLines(string file)
    {
        try
        {
            return File.Exists(file) ? File.ReadAllLines(file) : [];
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }
}
