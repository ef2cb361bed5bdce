using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using QuickSilver.Composition;
using QuickSilver.Hosting.Configuration;
using QuickSilver.Hosting.Consumption;

namespace QuickSilver.Hosting;

/// <summary>Adds a QuickSilver node to a host.</summary>
public static class QuickSilverServiceCollectionExtensions
{
    /// <summary>The health check that fails while the node's core thread is blocked.</summary>
    public const string LiveCheck = "quicksilver-live";

    /// <summary>
    /// The health check that fails until the node has joined and opened its topics, while the membership service is unreachable, and while
    /// the cluster has fewer than <see cref="QuickSilverHostingOptions.ReadyWhenMembers"/> members.
    /// </summary>
    public const string ReadyCheck = "quicksilver-ready";

    /// <summary>
    /// The section of the host's configuration from which the node without a key reads its options, unless AddQuickSilver is called with a
    /// section.
    /// </summary>
    public const string DefaultSection = "QuickSilver";

    private const int MaxKeyCharacters = 64;

    /// <summary>
    /// Adds the node of the host. Its options are read from the section <see cref="DefaultSection"/> of the host's configuration, if there
    /// is one; code that sets options replaces what was read. An unknown name in the section and an invalid value fail the host's start.
    /// The node starts in the background before the services of the host, and ends after them, whatever the order in which they are added:
    /// a hosted service may await a publish in its StartAsync and in its StopAsync. Handlers, consumers and responders of the host begin
    /// when the services that were added before have started. Consumers and responders end before any service stops. This also adds health
    /// checks named <see cref="LiveCheck"/> (tag "live") and
    /// <see cref="ReadyCheck"/> (tag "ready"). If it is called again, options and topics are added to the same node.
    /// </summary>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services)
    {
        ArgumentNullException.ThrowIfNull(services);
        var known = Nodes(services).FirstOrDefault(static node => node.Key is null);
        return new QuickSilverBuilder(services, known ?? Add(services, new HostedNode(Key: null)));
    }

    /// <summary>
    /// Adds the node of the host, whose options are read by name from this configuration section instead of <see cref="DefaultSection"/>:
    /// those of <see cref="QuickSilverOptions"/>, of <see cref="QuickSilverHostingOptions"/> in the group <c>Hosting</c>, and of topics in
    /// the group <c>Topics</c>, by the name of the topic. A section that is missing, an unknown name and an invalid value fail the host's
    /// start.
    /// </summary>
    /// <inheritdoc cref="AddQuickSilver(IServiceCollection)"/>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services, IConfiguration section) =>
        services.AddQuickSilver().Bind(section);

    /// <summary>
    /// Adds the node of the host and sets its options in code, after those in the section <see cref="DefaultSection"/> were read.
    /// </summary>
    /// <inheritdoc cref="AddQuickSilver(IServiceCollection)"/>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services, Action<QuickSilverOptions> configure) =>
        services.AddQuickSilver().Set(configure);

    /// <summary>
    /// Adds another node to the host, with a key: a node of another cluster, or on another network. What belongs to it is injected by the
    /// key: <c>[FromKeyedServices("lan2")] IQuickSilverNodeAccessor</c>. Its topics are injected by the key, a colon and the name,
    /// <c>[FromKeyedServices("lan2:prices")]</c>, and by the key alone if no other topic of the node has the payload type. Its options
    /// are the named options with the key as their name. Its health checks are named <see cref="LiveCheck"/> and <see cref="ReadyCheck"/>
    /// with a hyphen and the key, and fail apart from those of other nodes.
    /// </summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="key">The key: 1 to 64 characters without a colon, a space or a control character.</param>
    /// <exception cref="ArgumentException">The key is invalid, or a node with this key is already added.</exception>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services, string key)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(key);
        if (key.Length is < 1 or > MaxKeyCharacters
            || key.Any(static c => c == HostedNode.Separator || char.IsWhiteSpace(c) || char.IsControl(c)))
        {
            throw new ArgumentException(
                $"\"{key}\" cannot be the key of a node. Use 1 to {MaxKeyCharacters} characters without a colon, a space or a control "
                + "character.",
                nameof(key));
        }

        if (Nodes(services).Any(node => node.Key == key))
        {
            throw new ArgumentException(
                $"A node with the key \"{key}\" is already added. Use another key for another node, or the builder that the first call of "
                + "AddQuickSilver returned for topics of the same node.",
                nameof(key));
        }

        return new QuickSilverBuilder(services, Add(services, new HostedNode(key)));
    }

    /// <summary>Adds another node to the host, with a key, whose options are read from a configuration section.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="key">The key: 1 to 64 characters without a colon, a space or a control character.</param>
    /// <param name="section">The section. If it is missing, the start of the host fails.</param>
    /// <inheritdoc cref="AddQuickSilver(IServiceCollection, string)"/>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services, string key, IConfiguration section) =>
        services.AddQuickSilver(key).Bind(section);

    /// <summary>Adds another node to the host, with a key, and sets its options in code.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="key">The key: 1 to 64 characters without a colon, a space or a control character.</param>
    /// <param name="configure">Sets the options.</param>
    /// <inheritdoc cref="AddQuickSilver(IServiceCollection, string)"/>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services, string key, Action<QuickSilverOptions> configure) =>
        services.AddQuickSilver(key).Set(configure);

    /// <summary>
    /// For tests: the nodes of the host are started in memory, without a socket, a port or a membership service. Call it in a test on the
    /// services of an application that calls AddQuickSilver, before or after that, such as in <c>ConfigureTestServices</c> of a
    /// <c>WebApplicationFactory</c>.
    /// </summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="network">
    /// The network whose nodes the host's nodes meet: those that the test starts, and those of other hosts. Null: one of the host's own.
    /// </param>
    public static IServiceCollection UseInMemoryQuickSilver(this IServiceCollection services, InMemoryNetwork? network = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.RemoveAll<NodeStarter>();
        services.AddSingleton<NodeStarter>((network ?? new InMemoryNetwork()).StartNodeAsync);
        return services;
    }

    private static IEnumerable<HostedNode> Nodes(IServiceCollection services) => services
        .Where(static service => !service.IsKeyedService && service.ServiceType == typeof(HostedNode))
        .Select(static service => (HostedNode)service.ImplementationInstance!);

    private static HostedNode Add(IServiceCollection services, HostedNode node)
    {
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IValidateOptions<QuickSilverOptions>, OptionsCheck>());
        services.TryAddSingleton(TimeProvider.System);
        services.TryAddSingleton<NodeStarter>(static _ => QuickSilverNode.StartAsync);
        services.AddOptions<QuickSilverOptions>(node.OptionsName)
            .Configure<IServiceProvider>((options, provider) => options.Application = node.ApplicationIn(provider))
            .Configure<IServiceProvider>(
                (options, provider) => ReadDefault(node, provider, section => OptionsBinding.Bind(section, options)))
            .ValidateOnStart();
        services.AddSingleton<IValidateOptions<QuickSilverHostingOptions>>(provider => new HostingOptionsCheck(node, provider));
        services.AddOptions<QuickSilverHostingOptions>(node.OptionsName)
            .Configure<IServiceProvider>(
                (options, provider) => ReadDefault(node, provider, section => OptionsBinding.Bind(section, options)))
            .ValidateOnStart();

        services.AddSingleton(node);
        services.AddKeyedSingleton(node, static (provider, _) => new NodeHolder(provider.GetRequiredService<TimeProvider>()));
        services.AddKeyedSingleton(node, (provider, _) => NodeLifetime.Of(node, provider));
        // First, so that no service starts before the node or stops after it. Consumers are in the order of the application.
        services.Insert(0, ServiceDescriptor.Singleton<IHostedService>(provider => node.Get<NodeLifetime>(provider)));
        services.AddSingleton<IHostedService>(provider => new ConsumerLifetime(node.Get<NodeLifetime>(provider)));
        services.AddKeyedSingleton<IQuickSilverNodeAccessor>(node.Key, (provider, _) => node.Get<NodeHolder>(provider));

        services.AddHealthChecks();
        services.AddOptions<HealthCheckServiceOptions>().Configure<IServiceProvider>((checks, provider) =>
        {
            var options = node.HostingOptions(provider);
            checks.Registrations.Add(Check(node, LiveCheck, isReadiness: false, options.LiveTags));
            checks.Registrations.Add(Check(node, ReadyCheck, isReadiness: true, options.ReadyTags));
        });
        return node;
    }

    private static HealthCheckRegistration Check(HostedNode node, string name, bool isReadiness, IEnumerable<string> tags) =>
        new(node.CheckName(name), provider => NodeHealthCheck.Of(node, provider, isReadiness), null, tags);

    // A container without a host may have no configuration.
    private static void ReadDefault(HostedNode node, IServiceProvider provider, Action<IConfigurationSection> bind)
    {
        if (node.Key is null
            && provider.GetKeyedService<ChosenSection>(node) is null
            && provider.GetService<IConfiguration>()?.GetSection(DefaultSection) is { } section
            && section.Exists())
        {
            bind(section);
        }
    }

    private static QuickSilverBuilder Bind(this QuickSilverBuilder builder, IConfiguration section)
    {
        ArgumentNullException.ThrowIfNull(section);
        string name = builder.Node.OptionsName;
        builder.Services.TryAddKeyedSingleton(builder.Node, new ChosenSection());
        builder.Services.Configure<QuickSilverOptions>(name, options => OptionsBinding.Bind(section, options));
        builder.Services.Configure<QuickSilverHostingOptions>(name, options => OptionsBinding.Bind(section, options));
        return builder;
    }

    private static QuickSilverBuilder Set(this QuickSilverBuilder builder, Action<QuickSilverOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        builder.Services.Configure(builder.Node.OptionsName, configure);
        return builder;
    }

    // Registered for a node that reads its options from a section that the application has named.
    private sealed class ChosenSection;
}
