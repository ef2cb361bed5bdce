using System.Net;

namespace QuickSilver.Tests;

public sealed class OptionRulesTests
{
    public static TheoryData<string, string, string, QuickSilverOptions> Wrong => new()
    {
        { "Membership:Servers:0", "\"host\"", "host:port", new() { Membership = { Servers = ["host"] } } },
        { "Membership:Servers:0", "\"host:0\"", "1 to 65535", new() { Membership = { Servers = ["host:0"] } } },
        { "Membership:Servers:0", "\"host:65536\"", "1 to 65535", new() { Membership = { Servers = ["host:65536"] } } },
        { "Membership:Servers:0", "\":7400\"", "host:port", new() { Membership = { Servers = [":7400"] } } },
        { "Membership:Servers:0", "\"tcp://host:7400\"", "host:port", new() { Membership = { Servers = ["tcp://host:7400"] } } },
        { "Membership:Servers:0", "\"a:1,b:2\"", "Each server is an entry of its own", new() { Membership = { Servers = ["a:1,b:2"] } } },
        { "Membership:Servers:1", "\"b\"", "host:port", new() { Membership = { Servers = ["a:1", "b", "c:3"] } } },
        { "Membership:Servers:0", "null", "host:port", new() { Membership = { Servers = [null!] } } },
        { "Membership:Servers", "null", "a list of 0 to 64 servers", new() { Membership = { Servers = null! } } },
        { "Membership:Servers", "a list of 65", "a list of 0 to 64 servers", new() { Membership = { Servers = [.. new string[65]] } } },
        { "Membership", "null", "MembershipOptions", new() { Membership = null! } },
        { "Membership:Servers:0", "\"\"", "host:port", new() { Membership = { Servers = [""] } } },
        { "Cluster", "\"\"", "1 to 64", new() { Cluster = "" } },
        { "Cluster", "null", "1 to 64", new() { Cluster = null! } },
        { "Cluster", "\"xxxx", "1 to 64", new() { Cluster = new string('x', 65) } },
        { "Cluster", "\"a\tb\"", "control", new() { Cluster = "a\tb" } },
        { "Interface", "::", "an address of this machine", new() { Interface = IPAddress.IPv6Any } },
        { "Interface", "ff02::1", "an address of this machine", new() { Interface = IPAddress.Parse("ff02::1") } },
        { "Interface", "0.0.0.0", "an address of this machine", new() { Interface = IPAddress.Any } },
        { "Interface", "239.1.2.3", "an address of this machine", new() { Interface = IPAddress.Parse("239.1.2.3") } },
        { "Interface", "null", "an address of this machine", new() { Interface = null! } },
        { "Name", "\"\"", "1 to 128 bytes in UTF-8", new() { Name = "" } },
        { "Name", "\"web 3\"", "letters, digits and the characters - . _ @ : / +", new() { Name = "web 3" } },
        { "Name", "\"\u009b2J\"", "letters, digits", new() { Name = "\u009b2J" } },
        { "Name", "\"ééééé", "1 to 128 bytes", new() { Name = new string('é', 65) } },
        { "Membership:Mode", "3", "FindOrHost, Find or Host", new() { Membership = { Mode = (MembershipMode)3 } } },
        {
            "Membership:Mode", "Host", "FindOrHost or Find with Membership:Servers \"gms:7400\"",
            new() { Membership = { Mode = MembershipMode.Host, Servers = ["gms:7400"] } }
        },
        { "StorageDirectory", "\"\"", "the path of a directory", new() { StorageDirectory = "" } },
        { "StorageDirectory", "\"  \"", "or null", new() { StorageDirectory = "  " } },
        { "StorageDirectory", "\"a\0b\"", "without control characters", new() { StorageDirectory = "a\0b" } },
        { "DiscoveryPort", "0", "1 to 65,535", new() { DiscoveryPort = 0 } },
        { "DiscoveryPort", "65,536", "1 to 65,535", new() { DiscoveryPort = 65_536 } },
        { "SenderSharing", "2", "Fair or Compete", new() { SenderSharing = (SenderSharing)2 } },
        { "Dissemination", "7", "Multicast or Unicast", new() { Dissemination = (Dissemination)7 } },
        { "Membership:Hosted:MulticastNetwork", "10.0.0.0/14", "prefix length 8 to 30", WithNetwork("10.0.0.0/14") },
        { "Membership:Hosted:MulticastNetwork", "224.0.0.0/24", "within 224.0.1.0", WithNetwork("224.0.0.0/24") },
        { "Membership:Hosted:MulticastNetwork", "ff02::/16", "97 to 126", WithNetwork("ff02::/16") },
        { "Membership:Hosted:MulticastNetwork", "fd00::/98", "within ff00::/8", WithNetwork("fd00::/98") },
        { "Membership:Servers:0", "\"::1:7400\"", "[IPv6 address]:port", new() { Membership = { Servers = ["::1:7400"] } } },
        { "Membership:Servers:0", "\"[::1]\"", "[IPv6 address]:port", new() { Membership = { Servers = ["[::1]"] } } },
        { "Membership:Servers:0", "\"[10.0.0.1]:7400\"", "[IPv6 address]:port", new() { Membership = { Servers = ["[10.0.0.1]:7400"] } } },
        { "Membership:Hosted:MulticastNetwork", "239.192.0.0/31", "8 to 30", WithNetwork("239.192.0.0/31") },
        { "Membership:Hosted:MulticastNetwork", "224.0.0.0/7", "8 to 30", WithNetwork("224.0.0.0/7") },
        {
            "Membership:Hosted:MulticastNetwork", "0.0.0.0/0", "8 to 30",
            new() { Membership = { Hosted = { MulticastNetwork = default } } }
        },
        { "Membership:Hosted", "null", "EmbeddedServiceOptions", new() { Membership = { Hosted = null! } } },
        { "Limits", "null", "NodeLimits", new() { Limits = null! } },
        { "Membership:Hosted:FirstGroupPort", "1,023", "1,024 to 65,535", new() { Membership = { Hosted = { FirstGroupPort = 1023 } } } },
        {
            "Membership:Hosted:LastGroupPort", "19,999", "20,000 to 65,535",
            new() { Membership = { Hosted = { FirstGroupPort = 20_000, LastGroupPort = 19_999 } } }
        },
        { "MulticastTimeToLive", "256", "0 to 255", new() { MulticastTimeToLive = 256 } },
        { "MulticastTimeToLive", "-1", "0 to 255", new() { MulticastTimeToLive = -1 } },
        { "MeteredTopics", "-1", "0 to 10,000", new() { MeteredTopics = -1 } },
        { "MeteredTopics", "10,001", "0 to 10,000", new() { MeteredTopics = 10_001 } },
        { "PacketBytes", "575", "576 to 65,507", new() { PacketBytes = 575 } },
        { "PacketBytes", "611", "612 to 65,507", new() { PacketBytes = 611, Security = { SecretVariable = "SECRET" } } },
        { "PacketBytes", "65,508", "576 to 65,507", new() { PacketBytes = 65_508 } },
        { "Limits:RetentionBytes", "1,048,575", "1,048,576 to 4,294,967,296", new() { Limits = { RetentionBytes = (1 << 20) - 1 } } },
        { "Limits:RetentionBytes", "4,294,967,297", "4,294,967,296", new() { Limits = { RetentionBytes = (4L << 30) + 1 } } },
        { "Limits:PublishQueueBytes", "65,535", "65,536 to 1,073,741,824", new() { Limits = { PublishQueueBytes = 65_535 } } },
        { "Limits:PublishQueueBytes", "1,073,741,825", "1,073,741,824", new() { Limits = { PublishQueueBytes = (1L << 30) + 1 } } },
        { "Limits:BufferBytes", "33,554,431", "33,554,432 to 17,179,869,184", new() { Limits = { BufferBytes = (32 << 20) - 1 } } },
        {
            "Limits:BufferBytes", "33,554,432", "46,596,096 to 17,179,869,184",
            new() { Limits = { BufferBytes = 32 << 20 }, PacketBytes = 40_000 }
        },
        { "Limits:BufferBytes", "17,179,869,185", "17,179,869,184", new() { Limits = { BufferBytes = (16L << 30) + 1 } } },
        {
            "Limits:ReceivedMessageBytes", "48,234,495", "48,234,496 to 17,179,869,184",
            new() { Limits = { ReceivedMessageBytes = (46 << 20) - 1 } }
        },
        {
            "Limits:ReceivedMessageBytes", "17,179,869,185", "17,179,869,184",
            new() { Limits = { ReceivedMessageBytes = (16L << 30) + 1 } }
        },
        { "Limits:ReceiveBufferBytes", "65,535", "65,536 to 1,073,741,824", new() { Limits = { ReceiveBufferBytes = 65_535 } } },
        { "Limits:ReceiveBufferBytes", "1,073,741,825", "1,073,741,824", new() { Limits = { ReceiveBufferBytes = (1 << 30) + 1 } } },
        { "Membership:Hosted:TopicAddresses", "-1", "0 to 65,536", new() { Membership = { Hosted = { TopicAddresses = -1 } } } },
        { "Membership:Hosted:TopicAddresses", "65,537", "0 to 65,536", new() { Membership = { Hosted = { TopicAddresses = 65_537 } } } },
        {
            "Membership:Hosted:TopicAddressesPerNode", "-1", "0 to 1,024",
            new() { Membership = { Hosted = { TopicAddressesPerNode = -1 } } }
        },
        {
            "Membership:Hosted:TopicAddressesPerNode", "1,025", "0 to 1,024",
            new() { Membership = { Hosted = { TopicAddressesPerNode = 1_025 } } }
        },
        { "Membership:Hosted:Replicas", "0", "1 to 1,000", new() { Membership = { Hosted = { Replicas = 0 } } } },
        { "Membership:Hosted:Replicas", "1,001", "1 to 1,000", new() { Membership = { Hosted = { Replicas = 1_001 } } } },
        { "Limits:RepairBytesPerSecond", "65,535", "65,536 to 4,294,967,296", new() { Limits = { RepairBytesPerSecond = 65_535 } } },
        { "Limits:RepairBytesPerSecond", "4,294,967,297", "4,294,967,296", new() { Limits = { RepairBytesPerSecond = (4L << 30) + 1 } } },
        {
            "Membership:Hosted:HeartbeatInterval", "00:00:00.0490000", "00:00:00.0500000 to 00:01:00",
            new() { Membership = { Hosted = { HeartbeatInterval = TimeSpan.FromMilliseconds(49) } } }
        },
        {
            "Membership:Hosted:HeartbeatInterval", "00:01:01", "00:01:00",
            new() { Membership = { Hosted = { HeartbeatInterval = TimeSpan.FromSeconds(61) } } }
        },
        { "Membership:Hosted:MissedHeartbeatLimit", "1", "2 to 100", new() { Membership = { Hosted = { MissedHeartbeatLimit = 1 } } } },
        { "StallWarning", "00:00:00", "00:00:00.1000000 to 01:00:00", new() { StallWarning = TimeSpan.Zero } },
        { "HandlerLimit", "00:00:00.9990000", "00:00:01 to 1.00:00:00", new() { HandlerLimit = TimeSpan.FromMilliseconds(999) } },
        { "Membership:Hosted:MissedHeartbeatLimit", "101", "2 to 100", new() { Membership = { Hosted = { MissedHeartbeatLimit = 101 } } } },
        { "StartTimeout", "00:00:00.0990000", "00:00:00.1000000 to 00:10:00", new() { StartTimeout = TimeSpan.FromMilliseconds(99) } },
        { "StartTimeout", "00:10:01", "00:10:00", new() { StartTimeout = TimeSpan.FromSeconds(601) } },
    };

    public static TheoryData<string, string, string, TopicOptions> WrongTopic => new()
    {
        { "Guarantee", "9", "Reliable or BestEffort", new() { Guarantee = (Guarantee)9 } },
        { "ReaderCapacity", "0", "1 to 1,048,576", new() { ReaderCapacity = 0 } },
        { "ReaderCapacity", "1,048,577", "1 to 1,048,576", new() { ReaderCapacity = (1 << 20) + 1 } },
        { "SlowReader", "3", "Wait, DropOldest or DropWrite", new() { SlowReader = (SlowReaderPolicy)3 } },
        { "SlowReaderLimit", "00:00:00.0990000", "00:00:00.1000000 to", new() { SlowReaderLimit = TimeSpan.FromMilliseconds(99) } },
        { "ServiceLossLimit", "00:00:00.9990000", "00:00:01 to", new() { ServiceLossLimit = TimeSpan.FromMilliseconds(999) } },
        { "ServiceLossLimit", "1.00:00:01", "1.00:00:00", new() { ServiceLossLimit = TimeSpan.FromSeconds(86_401) } },
        { "SlowReaderLimit", "1.00:00:01", "1.00:00:00", new() { SlowReaderLimit = TimeSpan.FromSeconds(86_401) } },
        {
            "SlowReaderLimit", "00:00:05", "null with the policy DropOldest",
            new() { SlowReaderLimit = TimeSpan.FromSeconds(5), SlowReader = SlowReaderPolicy.DropOldest }
        },
    };

    [Theory]
    [MemberData(nameof(Wrong))]
    public async Task A_wrong_option_is_refused_at_start_naming_it_its_value_and_its_range(
        string option, string value, string allowed, QuickSilverOptions options)
    {
        var refusal = await Assert.ThrowsAsync<QuickSilverOptionsException>(() => QuickSilverNode.StartAsync(options));
        string failure = Assert.Single(refusal.Failures);
        Assert.Contains($"option {option} is {value}", failure);
        Assert.Contains(allowed, failure);
        Assert.Contains(failure, refusal.Message);
    }

    [Theory]
    [MemberData(nameof(WrongTopic))]
    public void A_wrong_topic_option_is_refused_naming_it_its_value_and_its_range(
        string option, string value, string allowed, TopicOptions options)
    {
        var refusal = Assert.Throws<QuickSilverOptionsException>(() => OptionRules.Check(options));
        string failure = Assert.Single(refusal.Failures);
        Assert.Contains($"option {option} is {value}", failure);
        Assert.Contains(allowed, failure);
    }

    [Fact]
    public void The_defaults_and_the_ends_of_every_range_are_allowed()
    {
        Assert.Empty(OptionRules.Failures(new QuickSilverOptions()));
        Assert.Empty(OptionRules.Failures(new TopicOptions()));
        Assert.Empty(OptionRules.Failures(new QuickSilverOptions
        {
            Cluster = new string('x', 64),
            DiscoveryPort = 65_535,
            PacketBytes = 65_507,
            Limits =
            {
                RetentionBytes = 4L << 30,
                PublishQueueBytes = 64 << 10,
                BufferBytes = 32 << 20,
                ReceiveBufferBytes = 1 << 30,
                RepairBytesPerSecond = 64 << 10,
            },
            Membership =
            {
                Servers = [.. Enumerable.Repeat($"{new string('x', 1_022)}:1", 64)],
                Hosted =
                {
                    MulticastNetwork = IPNetwork.Parse("239.255.255.252/30"),
                    Replicas = 1_000,
                    HeartbeatInterval = TimeSpan.FromMilliseconds(50),
                    MissedHeartbeatLimit = 100,
                },
            },
            StartTimeout = TimeSpan.FromMinutes(10),
        }));
    }

    [Fact]
    public void Every_wrong_option_is_named_not_only_the_first()
    {
        var refusal = Assert.Throws<QuickSilverOptionsException>(
            () => OptionRules.Check(new QuickSilverOptions { PacketBytes = 1, Membership = { Hosted = { MissedHeartbeatLimit = 0 } } }));
        Assert.Equal(2, refusal.Failures.Count);
        Assert.Contains("PacketBytes", refusal.Message);
        Assert.Contains("MissedHeartbeatLimit", refusal.Message);
    }

    [Fact]
    public void Every_option_has_a_rule_that_is_tested()
    {
        // Those that are yes or no may be either.
        var options = OptionKey.All.Select(option => option.Name).Except(["SegmentationOffload", "BusyPoll"])
            // Of these, SecuredNodeTests says what goes together.
            .Where(static name => !name.StartsWith("Security:", StringComparison.Ordinal) && name != "Membership:Hosted:RightsFile");
        Assert.Empty(options.Except(Wrong.Select(row => row.Data.Item1)));
        var topicOptions = typeof(TopicOptions).GetProperties().Select(property => property.Name)
            .Except(["StampPublishTime", "ReceiveOwnMessages", "RequireQuorum"]);
        Assert.Empty(topicOptions.Except(WrongTopic.Select(row => row.Data.Item1)));
    }

    [Fact]
    public void Options_of_patterns_name_what_is_wrong_its_value_and_its_range()
    {
        (Action Check, string Said)[] wrong =
        [
            (static () => OptionRules.Check(new RequesterOptions { Timeout = TimeSpan.Zero }),
                "The option Timeout is 00:00:00. Allowed: 00:00:00.0010000 to 1.00:00:00."),
            (static () => OptionRules.Check(new RequesterOptions { MaxOutstanding = 0 }),
                "The option MaxOutstanding is 0. Allowed: 1 to 65,536."),
            (static () => OptionRules.Check(new RequesterOptions { WaitForResponder = TimeSpan.FromSeconds(-1) }),
                "The option WaitForResponder is -00:00:01. Allowed: 00:00:00 to 1.00:00:00."),
            (static () => OptionRules.Check(new ResponderOptions { Concurrency = 0 }), "The option Concurrency is 0. Allowed: 1 to 1,024."),
            (static () => OptionRules.Check(new ResponderOptions { Capacity = 0 }), "The option Capacity is 0. Allowed: 1 to 1,048,576."),
            (static () => OptionRules.Check(new StateOptions { MaxKeys = 0 }), "The option MaxKeys is 0. Allowed: 1 to 1,000,000."),
            (static () => OptionRules.Check(new PrefixOptions<string> { MaxTopics = 8_193 }),
                "The option MaxTopics is 8,193. Allowed: 1 to 8,192."),
            (static () => OptionRules.Check(new PrefixOptions<string> { KeepOpen = TimeSpan.FromSeconds(-1) }),
                "The option KeepOpen is -00:00:01. Allowed: 00:00:00 to 1.00:00:00."),
            (static () => OptionRules.Check(new PrefixOptions<string> { Topic = new TopicOptions { ReaderCapacity = 0 } }),
                "The option ReaderCapacity is 0. Allowed: 1 to 1,048,576."),
        ];
        Assert.All(wrong, static one => Assert.Contains(
            one.Said, Assert.Throws<QuickSilverOptionsException>(one.Check).Message, StringComparison.Ordinal));
        OptionRules.Check(new RequesterOptions());
        OptionRules.Check(new ResponderOptions());
        OptionRules.Check(new StateOptions());
        OptionRules.Check(new PrefixOptions<string>());
    }

    private static QuickSilverOptions WithNetwork(string network) =>
        new() { Membership = { Hosted = { MulticastNetwork = IPNetwork.Parse(network) } } };
}
