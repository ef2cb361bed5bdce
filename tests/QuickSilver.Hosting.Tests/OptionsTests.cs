using System.Net;
using System.Text;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using QuickSilver.Hosting.Configuration;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests;

public sealed class OptionsTests
{
    [Fact]
    public async Task Options_are_bound_from_configuration_by_their_names_addresses_too()
    {
        var settings = HostedNodes.Settings(
            ("QuickSilver:Membership:Servers:0", "gms.example.org:7400"),
            ("QuickSilver:Membership:Servers:1", "[fd00::1]:7400"),
            ("QuickSilver:Cluster", "prod"),
            ("QuickSilver:Interface", "10.1.2.3"),
            ("QuickSilver:DiscoveryPort", "7500"),
            ("QuickSilver:Membership:Mode", "Find"),
            ("QuickSilver:Dissemination", "Unicast"),
            ("QuickSilver:SenderSharing", "Compete"),
            ("QuickSilver:Membership:Hosted:MulticastNetwork", "239.10.0.0/16"),
            ("QuickSilver:Membership:Hosted:FirstGroupPort", "20000"),
            ("QuickSilver:Membership:Hosted:LastGroupPort", "21000"),
            ("QuickSilver:StorageDirectory", "/var/lib/orders"),
            ("QuickSilver:MulticastTimeToLive", "4"),
            ("QuickSilver:PacketBytes", "9000"),
            ("QuickSilver:Limits:RetentionBytes", "5000000000"),
            ("QuickSilver:Limits:PublishQueueBytes", "100000"),
            ("QuickSilver:Limits:BufferBytes", "100000000"),
            ("QuickSilver:Limits:ReceiveBufferBytes", "100000"),
            ("QuickSilver:Limits:ReceivedMessageBytes", "200000000"),
            ("QuickSilver:Membership:Hosted:Replicas", "7"),
            ("QuickSilver:Limits:RepairBytesPerSecond", "1000000"),
            ("QuickSilver:Membership:Hosted:HeartbeatInterval", "00:00:02"),
            ("QuickSilver:Membership:Hosted:MissedHeartbeatLimit", "5"),
            ("QuickSilver:Membership:Hosted:TopicAddresses", "500"),
            ("QuickSilver:Membership:Hosted:TopicAddressesPerNode", "20"),
            ("QuickSilver:Membership:Hosted:RightsFile", "rights.json"),
            ("QuickSilver:Security:Mode", "None"),
            ("QuickSilver:Security:SecretFile", "secret"),
            ("QuickSilver:Security:SecretVariable", "SECRET"),
            ("QuickSilver:Security:CertificateFile", "node.pem"),
            ("QuickSilver:Security:CertificateKeyFile", "node.key"),
            ("QuickSilver:Security:AuthorityFile", "authority.pem"),
            ("QuickSilver:StallWarning", "00:00:07"),
            ("QuickSilver:HandlerLimit", "00:00:08"),
            ("QuickSilver:SegmentationOffload", "false"),
            ("QuickSilver:BusyPoll", "true"),
            ("QuickSilver:MeteredTopics", "12"),
            ("QuickSilver:Name", "orders@web-3"),
            ("QuickSilver:StartTimeout", "00:00:20"));
        var options = new QuickSilverOptions();
        OptionsBinding.Bind(settings.GetSection("QuickSilver"), options);
        var expected = new QuickSilverOptions
        {
            Membership = new MembershipOptions
            {
                Servers = ["gms.example.org:7400", "[fd00::1]:7400"],
                Mode = MembershipMode.Find,
                Hosted = new EmbeddedServiceOptions
                {
                    MulticastNetwork = IPNetwork.Parse("239.10.0.0/16"),
                    FirstGroupPort = 20_000,
                    LastGroupPort = 21_000,
                    Replicas = 7,
                    HeartbeatInterval = TimeSpan.FromSeconds(2),
                    MissedHeartbeatLimit = 5,
                    TopicAddresses = 500,
                    TopicAddressesPerNode = 20,
                    RightsFile = "rights.json",
                },
            },
            Cluster = "prod",
            Interface = IPAddress.Parse("10.1.2.3"),
            DiscoveryPort = 7500,
            Dissemination = Dissemination.Unicast,
            SenderSharing = SenderSharing.Compete,
            Security = new SecurityOptions
            {
                Mode = SecurityMode.None,
                SecretFile = "secret",
                SecretVariable = "SECRET",
                CertificateFile = "node.pem",
                CertificateKeyFile = "node.key",
                AuthorityFile = "authority.pem",
            },
            StorageDirectory = "/var/lib/orders",
            MulticastTimeToLive = 4,
            MeteredTopics = 12,
            Name = "orders@web-3",
            PacketBytes = 9000,
            Limits = new NodeLimits
            {
                RetentionBytes = 5_000_000_000,
                PublishQueueBytes = 100_000,
                BufferBytes = 100_000_000,
                ReceiveBufferBytes = 100_000,
                ReceivedMessageBytes = 200_000_000,
                RepairBytesPerSecond = 1_000_000,
            },
            StallWarning = TimeSpan.FromSeconds(7),
            HandlerLimit = TimeSpan.FromSeconds(8),
            SegmentationOffload = false,
            BusyPoll = true,
            StartTimeout = TimeSpan.FromSeconds(20),
        };
        foreach (var option in OptionKey.All)
        {
            Assert.Equal(option.Get(expected), option.Get(options));
            // An option that is new must be bound here as well.
            Assert.NotEqual(option.Get(new QuickSilverOptions()), option.Get(options));
        }

        await using var hosted = new HostedNodes(
            builder => builder.Services.AddQuickSilver(HostedNodes.Settings(("Interface", "10.9.8.7"))));
        Assert.Equal(IPAddress.Parse("10.9.8.7"), hosted.Host.Services.GetRequiredService<IOptions<QuickSilverOptions>>().Value.Interface);
    }

    [Theory]
    [InlineData("Membership:Hosted:MissedHeartbeatLimit", "many", "2 to 100")]
    [InlineData("Membership:Hosted:MissedHeartbeatLimit", "99999999999", "2 to 100")]
    [InlineData("Dissemination", "Broadcast", "Auto, Multicast or Unicast")]
    [InlineData("Membership:Hosted:HeartbeatInterval", "1 s", "00:00:00.0500000 to 00:01:00")]
    [InlineData("Limits:RetentionBytes", "1 GB", "1,048,576 to 4,294,967,296")]
    [InlineData("BusyPoll", "yes", "true or false")]
    public async Task A_text_that_is_no_value_of_its_option_fails_the_hosts_start_naming_both_and_what_is_allowed(
        string option, string text, string allowed)
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver(HostedNodes.Settings((option, text))));
        var failure = await Assert.ThrowsAsync<QuickSilverOptionsException>(() => hosted.Host.StartAsync());
        Assert.Equal([$"The option {option} is \"{text}\". Allowed: {allowed}."], failure.Failures);
    }

    [Theory]
    [InlineData("a:1,b:2")]
    [InlineData("a:1, b:2")]
    public void Servers_may_be_one_text_as_a_variable_has_it_in_place_of_a_list(string text)
    {
        var settings = HostedNodes.Settings(("Membership:Servers:0", "c:3"), ("Membership:Servers", text));
        var options = new QuickSilverOptions { Membership = { Servers = ["d:4"] } };
        OptionsBinding.Bind(settings, options);
        Assert.Equal(["a:1", "b:2"], options.Membership.Servers);
    }

    [Fact]
    public void Variables_and_arguments_name_servers_in_one_text()
    {
        string prefix = $"QS{Guid.NewGuid():N}_";
        Environment.SetEnvironmentVariable($"{prefix}QuickSilver__Membership__Servers", "a:1,b:2");
        try
        {
            var options = new QuickSilverOptions();
            OptionsBinding.Bind(new ConfigurationBuilder().AddEnvironmentVariables(prefix).Build().GetSection("QuickSilver"), options);
            Assert.Equal(["a:1", "b:2"], options.Membership.Servers);
            string[] arguments = ["--QuickSilver:Membership:Servers=c:3,d:4"];
            OptionsBinding.Bind(new ConfigurationBuilder().AddCommandLine(arguments).Build().GetSection("QuickSilver"), options);
            Assert.Equal(["c:3", "d:4"], options.Membership.Servers);
        }
        finally
        {
            Environment.SetEnvironmentVariable($"{prefix}QuickSilver__Membership__Servers", null);
        }
    }

    [Theory]
    [InlineData("[ \"a:1\", \"b:2\" ]", "a:1", "b:2")]
    [InlineData("\"a:1,b:2\"", "a:1", "b:2")]
    public void A_file_names_servers_in_a_list_or_in_one_text(string json, params string[] servers)
    {
        using var file = new MemoryStream(Encoding.UTF8.GetBytes($"{{ \"Membership\": {{ \"Servers\": {json} }} }}"));
        var options = new QuickSilverOptions { Membership = { Servers = ["d:4"] } };
        OptionsBinding.Bind(new ConfigurationBuilder().AddJsonStream(file).Build(), options);
        Assert.Equal(servers, options.Membership.Servers);
    }

    // In configuration it is the same as a variable without a value, with which a node would host a cluster of its own unnoticed.
    [Fact]
    public async Task An_empty_list_in_a_file_fails_the_hosts_start_and_says_to_leave_the_option_out()
    {
        using var file = new MemoryStream("{ \"Membership\": { \"Servers\": [] } }"u8.ToArray());
        var settings = new ConfigurationBuilder().AddJsonStream(file).Build();
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver(settings));
        var failure = await Assert.ThrowsAsync<OptionsValidationException>(() => hosted.Host.StartAsync()).OrFail();
        Assert.EndsWith("or no Membership:Servers at all for embedded membership.", Assert.Single(failure.Failures));
    }

    [Theory]
    [InlineData("Membership:Servers:1", "a:1,,b:2", "")]
    [InlineData("Membership:Servers:0", "", "")]
    [InlineData("Membership:Servers:1", "a:1,b", "b")]
    public async Task A_server_that_is_none_fails_the_hosts_start_with_its_key(string key, string text, string server)
    {
        await using var hosted = new HostedNodes(
            builder => builder.Services.AddQuickSilver(HostedNodes.Settings(("Membership:Servers", text))));
        var failure = await Assert.ThrowsAsync<OptionsValidationException>(() => hosted.Host.StartAsync()).OrFail();
        Assert.StartsWith($"The option {key} is \"{server}\". Allowed: \"host:port\"", Assert.Single(failure.Failures));
    }

    [Fact]
    public async Task An_entry_with_several_servers_fails_the_hosts_start_and_says_that_each_is_an_entry()
    {
        await using var hosted = new HostedNodes(
            builder => builder.Services.AddQuickSilver(HostedNodes.Settings(("Membership:Servers:0", "a:1,b:2"))));
        var failure = await Assert.ThrowsAsync<OptionsValidationException>(() => hosted.Host.StartAsync()).OrFail();
        Assert.StartsWith(
            "The option Membership:Servers:0 is \"a:1,b:2\". Allowed: one server. Each server is an entry of its own",
            Assert.Single(failure.Failures));
    }

    [Fact]
    public void Every_text_that_cannot_be_read_is_named_at_once()
    {
        var settings = HostedNodes.Settings(("Q:Membership:Hosted:Replicas", "x"), ("Q:BusyPoll", "y"), ("Q:Cluster", "prod"));
        var failure = Assert.Throws<QuickSilverOptionsException>(
            () => OptionsBinding.Bind(settings.GetSection("Q"), new QuickSilverOptions()));
        Assert.Equal(["BusyPoll", "Membership:Hosted:Replicas"], failure.Failures.Select(said => said.Split(' ')[2]).Order());
    }

    [Fact]
    public void The_valid_values_of_each_option_except_texts_and_addresses_are_known() => Assert.All(
        OptionKey.All.Where(option => option.Property.PropertyType != typeof(string)
            && option.Property.PropertyType != typeof(NodeInterface)
            && option.Property.PropertyType != typeof(IPNetwork)
            && !option.IsList),
        option => Assert.NotEmpty(OptionRules.Allowed(option)));

    [Fact]
    public async Task A_wrong_option_fails_the_hosts_start_naming_it_its_value_and_its_range()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver(options => options.PacketBytes = 10));
        var failure = await Assert.ThrowsAsync<OptionsValidationException>(() => hosted.Host.StartAsync()).OrFail();
        Assert.Contains("The option PacketBytes is 10. Allowed: 576 to 65,507.", failure.Failures);
        Assert.Equal(0, hosted.Attempts);
    }

    [Fact]
    public async Task An_address_that_is_none_fails_the_hosts_start_by_name()
    {
        await using var hosted = new HostedNodes(
            builder => builder.Services.AddQuickSilver(HostedNodes.Settings(("Interface", "10.0.0.0/33"))));
        var failure = await Assert.ThrowsAnyAsync<Exception>(() => hosted.Host.StartAsync()).OrFail();
        Assert.Contains("The option Interface is \"10.0.0.0/33\"", failure.Message);
    }

    [Fact]
    public async Task A_network_that_is_none_fails_the_hosts_start_by_its_key()
    {
        await using var hosted = new HostedNodes(
            builder => builder.Services.AddQuickSilver(HostedNodes.Settings(("Membership:Hosted:MulticastNetwork", "239.0.0.0"))));
        var failure = await Assert.ThrowsAnyAsync<Exception>(() => hosted.Host.StartAsync()).OrFail();
        Assert.Contains("The option Membership:Hosted:MulticastNetwork is \"239.0.0.0\"", failure.Message);
    }

    [Fact]
    public async Task A_misspelt_option_fails_the_hosts_start_naming_it_and_those_there_are()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver(
            HostedNodes.Settings(("Node:cluster", "a"), ("Node:PacketByte", "1000"), ("Node:Limits:BufferByte", "1"), ("Logging", "x"))
                .GetSection("Node")));
        var failure = await Assert.ThrowsAnyAsync<Exception>(() => hosted.Host.StartAsync()).OrFail();
        Assert.Contains(
            "Unknown option 'PacketByte' in the configuration. Did you mean 'PacketBytes'? Valid options: BusyPoll, Cluster, ",
            failure.Message);
        Assert.Contains(
            "Unknown option 'Limits:BufferByte' in the configuration. Did you mean 'Limits:BufferBytes'? Valid options: BufferBytes, ",
            failure.Message);
        Assert.DoesNotContain("option 'cluster'", failure.Message);
    }

    [Fact]
    public async Task Code_and_configuration_add_up_in_their_order()
    {
        await using var hosted = new HostedNodes(builder =>
        {
            builder.Services.AddQuickSilver(HostedNodes.Settings(("Cluster", "a"), ("PacketBytes", "1000")));
            builder.Services.AddQuickSilver(options => options.Cluster = "b");
        });
        var options = hosted.Host.Services.GetRequiredService<IOptions<QuickSilverOptions>>().Value;
        Assert.Equal(("b", 1000), (options.Cluster, options.PacketBytes));
        Assert.Single(hosted.Host.Services.GetServices<Microsoft.Extensions.Hosting.IHostedService>().OfType<NodeLifetime>());
    }

    [Fact]
    public void Wrong_topics_are_refused_where_they_are_added()
    {
        var builder = new ServiceCollection().AddQuickSilver();
        Assert.Throws<ArgumentException>(() => builder.AddTopic<string>(""));
        Assert.Throws<QuickSilverOptionsException>(() => builder.AddTopic<string>("t", new TopicOptions { ReaderCapacity = 0 }));
        builder.AddTopic<string>("t");
        Assert.Contains("\"t\"", Assert.Throws<ArgumentException>(() => builder.AddTopic<string>("t")).Message);
    }
}
