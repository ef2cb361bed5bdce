using System.Net;
using System.Net.Sockets;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Receiving;
using static QuickSilver.OptionFailures;

namespace QuickSilver;

// The valid values of each option, in one place: the node checks them at start and the host when it binds. Every failure names the
// option, its value and its range, so that the reader of a log need not look anything up.
internal static class OptionRules
{
    public const int LeastPacketBytes = 576;
    public const int MostPacketBytes = 65_507;
    // Ports below it are privileged.
    public const int LeastGroupPort = 1024;

    private const long KiB = 1L << 10;
    private const long MiB = 1L << 20;
    private const long GiB = 1L << 30;
    private const int MaxClusterCharacters = 64;
    private const int MostServers = 64;
    private const int MostServerCharacters = 1_024;
    private const int MaxReplicas = 1_000;
    private const int MaxTopicAddresses = 1 << 16;
    private const int MaxTopicAddressesPerNode = 1 << 10;
    private const int MaxReaderCapacity = 1 << 20;
    private const int MaxConcurrency = 1 << 10;
    private const int MaxMeteredTopics = 10_000;
    private const int MaxStateKeys = 1_000_000;
    private const int MaxOutstandingRequests = 1 << 16;
    internal static readonly TimeSpan LeastRequestTimeout = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan LongestWait = TimeSpan.FromDays(1);

    public static void Check(QuickSilverOptions options) => ThrowIfAny(Failures(options));

    public static void Check(TopicOptions options) => ThrowIfAny(Failures(options));

    public static void Check<T>(ConsumerOptions<T> options)
    {
        var failures = new List<string>();
        Within(failures, nameof(options.Concurrency), options.Concurrency, 1, MaxConcurrency);
        if (options.OnError is null)
        {
            Add(failures, nameof(options.OnError), null, "Skip, Stop or Retry of ConsumerErrors");
        }

        ThrowIfAny(failures);
    }

    public static void Check(RequesterOptions options)
    {
        var failures = new List<string>();
        Within(failures, nameof(options.Timeout), options.Timeout, LeastRequestTimeout, LongestWait);
        Within(failures, nameof(options.MaxOutstanding), options.MaxOutstanding, 1, MaxOutstandingRequests);
        Within(failures, nameof(options.WaitForResponder), options.WaitForResponder, TimeSpan.Zero, LongestWait);
        ThrowIfAny(failures);
    }

    public static void Check(ResponderOptions options)
    {
        var failures = new List<string>();
        Within(failures, nameof(options.Concurrency), options.Concurrency, 1, MaxConcurrency);
        Within(failures, nameof(options.Capacity), options.Capacity, 1, MaxReaderCapacity);
        ThrowIfAny(failures);
    }

    public static void Check<T>(PrefixOptions<T> options)
    {
        var failures = new List<string>();
        Within(failures, nameof(options.MaxTopics), options.MaxTopics, 1, FollowTopicsMessage.MostTopics);
        Within(failures, nameof(options.KeepOpen), options.KeepOpen, TimeSpan.Zero, LongestWait);
        ThrowIfAny(failures);
        ArgumentNullException.ThrowIfNull(options.Topic);
        ArgumentNullException.ThrowIfNull(options.Consumer);
        Check(options.Topic);
        Check(options.Consumer);
    }

    public static void Check(StateOptions options)
    {
        var failures = new List<string>();
        Within(failures, nameof(options.MaxKeys), options.MaxKeys, 1, MaxStateKeys);
        ThrowIfAny(failures);
    }

    public static IReadOnlyList<string> Failures(QuickSilverOptions options)
    {
        var failures = new List<string>();
        CheckMembership(options.Membership, failures);
        if (options.Cluster is null || options.Cluster.Length is < 1 or > MaxClusterCharacters || HasControl(options.Cluster))
        {
            Add(
                failures,
                nameof(options.Cluster),
                Quote(options.Cluster),
                $"1 to {MaxClusterCharacters} characters without control characters");
        }

        if (options.Name is { } name && !NodeName.IsValid(name))
        {
            Add(failures, nameof(options.Name), Quote(name), NodeName.Allowed);
        }

        if (options.Interface is null || (options.Interface.Address is { } address && !IsUnicast(address)))
        {
            Add(
                failures,
                nameof(options.Interface),
                options.Interface,
                "an address of this machine, such as 127.0.0.1 or ::1, the name of an interface, a subnet, or auto");
        }

        if (options.StorageDirectory is { } directory && (string.IsNullOrWhiteSpace(directory) || HasControl(directory)))
        {
            Add(
                failures,
                nameof(options.StorageDirectory),
                Quote(directory),
                "the path of a directory without control characters, or null for a node that keeps nothing on disk");
        }

        Within(failures, nameof(options.DiscoveryPort), options.DiscoveryPort, 1, IPEndPoint.MaxPort);
        if (!Enum.IsDefined(options.Dissemination))
        {
            Add(failures, nameof(options.Dissemination), (int)options.Dissemination, "Auto, Multicast or Unicast");
        }

        if (!Enum.IsDefined(options.SenderSharing))
        {
            Add(failures, nameof(options.SenderSharing), (int)options.SenderSharing, "Fair or Compete");
        }

        Within(failures, nameof(options.MulticastTimeToLive), options.MulticastTimeToLive, 0, 255);
        int leastPacket = MulticastOptions.LeastDatagramBytes(isSealed: options.Security is { HasKey: true });
        Within(failures, nameof(options.PacketBytes), options.PacketBytes, leastPacket, MostPacketBytes);
        SecurityRules.Check(options.Security, failures, Add);
        SecurityRules.CheckRights(options, failures, Add);
        CheckLimits(options.Limits, options.PacketBytes, failures);
        Within(failures, nameof(options.StallWarning), options.StallWarning, TimeSpan.FromMilliseconds(100), TimeSpan.FromHours(1));
        Within(failures, nameof(options.HandlerLimit), options.HandlerLimit, TimeSpan.FromSeconds(1), LongestWait);
        Within(failures, nameof(options.MeteredTopics), options.MeteredTopics, 0, MaxMeteredTopics);
        Within(failures, nameof(options.StartTimeout), options.StartTimeout, TimeSpan.FromMilliseconds(100), TimeSpan.FromMinutes(10));
        return failures;
    }

    public static IReadOnlyList<string> Failures(TopicOptions options)
    {
        var failures = new List<string>();
        if (!Enum.IsDefined(options.Guarantee))
        {
            Add(failures, nameof(options.Guarantee), (int)options.Guarantee, "Reliable or BestEffort");
        }

        Within(failures, nameof(options.ReaderCapacity), options.ReaderCapacity, 1, MaxReaderCapacity);
        if (!Enum.IsDefined(options.SlowReader))
        {
            Add(failures, nameof(options.SlowReader), (int)options.SlowReader, "Wait, DropOldest or DropWrite");
        }

        if (options.ServiceLossLimit is { } loss)
        {
            Within(failures, nameof(options.ServiceLossLimit), loss, TimeSpan.FromSeconds(1), TimeSpan.FromDays(1));
        }

        if (options.SlowReaderLimit is { } limit)
        {
            Within(failures, nameof(options.SlowReaderLimit), limit, TimeSpan.FromMilliseconds(100), TimeSpan.FromDays(1));
            if (options.SlowReader is SlowReaderPolicy.DropOldest or SlowReaderPolicy.DropWrite)
            {
                string shown = Show(limit);
                Add(failures, nameof(options.SlowReaderLimit), shown, $"null with the policy {options.SlowReader}, which never waits");
            }
        }

        return failures;
    }

    /// <summary>The valid values of an option, for a caller that could not convert the value it was given.</summary>
    public static string Allowed(OptionKey option)
    {
        object? none = option.Property.PropertyType switch
        {
            var type when type == typeof(bool) => null,
            var type when type.IsEnum => Enum.ToObject(type, int.MinValue),
            var type when type == typeof(TimeSpan) => TimeSpan.MinValue,
            var type when type == typeof(long) => long.MinValue,
            _ => int.MinValue,
        };
        if (none is null)
        {
            return "true or false";
        }

        // Checks a value that no rule allows and takes the range from the failure, so that each range is written once.
        var wrong = new QuickSilverOptions();
        option.Set(wrong, none);
        string start = $"The option {option.Name} is ";
        string said = Failures(wrong).First(failure => failure.StartsWith(start, StringComparison.Ordinal));
        return said[(said.IndexOf(AllowedIs, StringComparison.Ordinal) + AllowedIs.Length)..].TrimEnd('.');
    }

    public static void CheckRequestTimeout(TimeSpan timeout)
    {
        if (timeout < LeastRequestTimeout || timeout > LongestWait)
        {
            throw new ArgumentOutOfRangeException(nameof(timeout), timeout, "The timeout of a request must be between 1 ms and 24 hours.");
        }
    }

    public static void CheckSubscribers(int count)
    {
        if (count < 0)
        {
            throw new ArgumentOutOfRangeException(nameof(count), count, "The number of subscribers to wait for must be 0 or more.");
        }
    }

    public static void CheckCompletion(PublishCompletion completion)
    {
        if (!Enum.IsDefined(completion))
        {
            throw new ArgumentOutOfRangeException(
                nameof(completion), (int)completion, "Must be PublishCompletion.Accepted (0) or PublishCompletion.Stable (1).");
        }
    }

    // With less, a sender of the largest message would wait for memory forever.
    private static long LeastBufferBytes(int packetBytes) =>
        MulticastOptions.LeastBufferBytes(Math.Clamp(packetBytes, LeastPacketBytes, MostPacketBytes));

    private static void CheckMembership(MembershipOptions? membership, List<string> failures)
    {
        if (membership is null)
        {
            Add(failures, nameof(QuickSilverOptions.Membership), null, $"an object of type {nameof(MembershipOptions)}");
            return;
        }

        CheckServers(membership.Servers, failures);
        if (!Enum.IsDefined(membership.Mode))
        {
            Add(failures, MembershipOptions.ModeKey, (int)membership.Mode, "FindOrHost, Find or Host");
        }
        else if (membership is { Mode: MembershipMode.Host, Servers.Count: > 0 })
        {
            Add(
                failures,
                MembershipOptions.ModeKey,
                membership.Mode,
                $"FindOrHost or Find with {MembershipOptions.ServersKey} {Quote(membership.ServersInWords)}, because the node does not "
                + "host then");
        }

        CheckService(membership.Hosted, failures);
    }

    private static void CheckServers(IList<string>? servers, List<string> failures)
    {
        const string Form = "\"host:port\" or \"[IPv6 address]:port\" with a port of 1 to 65535";
        const string OrNone = $", or no {MembershipOptions.ServersKey} at all for embedded membership";
        if (servers is null || servers.Count > MostServers)
        {
            string? given = servers is null ? null : $"a list of {Show(servers.Count)}";
            string allowed = $"a list of 0 to {MostServers} servers, which is empty for embedded membership";
            Add(failures, MembershipOptions.ServersKey, given, allowed);
            return;
        }

        for (int i = 0; i < servers.Count; i++)
        {
            if (servers[i] is not { Length: <= MostServerCharacters } server || ServerAddress.Read(server) is null)
            {
                // Several in one text are a mistake that is easily made.
                string allowed = servers[i]?.Contains(',') == true
                    ? $"one server. Each server is an entry of its own: {Form}"
                    : Form + OrNone;
                Add(failures, $"{MembershipOptions.ServersKey}:{i}", Quote(servers[i]), allowed);
            }
        }
    }

    private static void CheckService(EmbeddedServiceOptions? service, List<string> failures)
    {
        const string Group = MembershipOptions.HostedKey;
        if (service is null)
        {
            Add(failures, Group, null, $"an object of type {nameof(EmbeddedServiceOptions)}");
            return;
        }

        Within(
            failures,
            KeyOf(Group, nameof(service.HeartbeatInterval)),
            service.HeartbeatInterval,
            TimeSpan.FromMilliseconds(50),
            TimeSpan.FromMinutes(1));
        Within(failures, KeyOf(Group, nameof(service.MissedHeartbeatLimit)), service.MissedHeartbeatLimit, 2, 100);
        if (!AddressPlan.IsRange(service.MulticastNetwork) || !IsMulticast(service.MulticastNetwork.BaseAddress))
        {
            Add(
                failures,
                KeyOf(Group, nameof(service.MulticastNetwork)),
                service.MulticastNetwork,
                "an IPv4 network of prefix length 8 to 30 within 224.0.1.0 to 239.255.255.255, such as 239.192.0.0/14, or an IPv6 network "
                + "of prefix length 97 to 126 within ff00::/8, such as ff15::5153:8000:0/98");
        }

        Within(failures, KeyOf(Group, nameof(service.FirstGroupPort)), service.FirstGroupPort, LeastGroupPort, IPEndPoint.MaxPort);
        int least = Math.Clamp(service.FirstGroupPort, LeastGroupPort, IPEndPoint.MaxPort);
        Within(failures, KeyOf(Group, nameof(service.LastGroupPort)), service.LastGroupPort, least, IPEndPoint.MaxPort);
        Within(failures, KeyOf(Group, nameof(service.Replicas)), service.Replicas, 1, MaxReplicas);
        Within(failures, KeyOf(Group, nameof(service.TopicAddresses)), service.TopicAddresses, 0, MaxTopicAddresses);
        Within(
            failures,
            KeyOf(Group, nameof(service.TopicAddressesPerNode)),
            service.TopicAddressesPerNode,
            0,
            MaxTopicAddressesPerNode);
    }

    private static void CheckLimits(NodeLimits? limits, int packetBytes, List<string> failures)
    {
        const string Group = nameof(QuickSilverOptions.Limits);
        if (limits is null)
        {
            Add(failures, Group, null, $"an object of type {nameof(NodeLimits)}");
            return;
        }

        Within(failures, KeyOf(Group, nameof(limits.BufferBytes)), limits.BufferBytes, LeastBufferBytes(packetBytes), 16 * GiB);
        Within(failures, KeyOf(Group, nameof(limits.RetentionBytes)), limits.RetentionBytes, MiB, 4 * GiB);
        Within(
            failures,
            KeyOf(Group, nameof(limits.ReceivedMessageBytes)),
            limits.ReceivedMessageBytes,
            ReceivedShares.LeastBytes,
            16 * GiB);
        Within(failures, KeyOf(Group, nameof(limits.PublishQueueBytes)), limits.PublishQueueBytes, 64 * KiB, GiB);
        Within(failures, KeyOf(Group, nameof(limits.ReceiveBufferBytes)), limits.ReceiveBufferBytes, 64 * KiB, GiB);
        Within(failures, KeyOf(Group, nameof(limits.RepairBytesPerSecond)), limits.RepairBytesPerSecond, 64 * KiB, 4 * GiB);
    }

    private static string KeyOf(string group, string option) => $"{group}:{option}";

    // 224.0.0.0/24 is reserved for link-local protocols and is not routed, so no region uses it.
    private static bool IsMulticast(IPAddress address) => address.AddressFamily == AddressFamily.InterNetwork
        ? ToNumber(address) is >= 0xE000_0100 and <= 0xEFFF_FFFF
        : address.IsIPv6Multicast;

    private static bool IsUnicast(IPAddress address) =>
        !address.Equals(IPAddress.Any) && !address.Equals(IPAddress.IPv6Any) && !address.IsIPv4MappedToIPv6 && !IsMulticast(address);

    private static uint ToNumber(IPAddress address)
    {
        Span<byte> bytes = stackalloc byte[4];
        address.TryWriteBytes(bytes, out _);
        return System.Buffers.Binary.BinaryPrimitives.ReadUInt32BigEndian(bytes);
    }

    private static bool HasControl(string text)
    {
        foreach (char c in text)
        {
            if (char.IsControl(c))
            {
                return true;
            }
        }

        return false;
    }

    private static string Quote(string? text) => text is null ? "null" : $"\"{text}\"";
}
