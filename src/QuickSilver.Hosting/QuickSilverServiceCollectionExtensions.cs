using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace QuickSilver.Hosting;

/// <summary>Adds a QuickSilver node to a host.</summary>
public static class QuickSilverServiceCollectionExtensions
{
    /// <summary>The health check that fails when the node's core thread does not turn.</summary>
    public const string LiveCheck = "quicksilver-live";

    /// <summary>The health check that fails until the node has joined and opened its topics, and while it is cut off.</summary>
    public const string ReadyCheck = "quicksilver-ready";

    /// <summary>
    /// Adds a node with the default options, or those that are configured elsewhere for <see cref="QuickSilverOptions"/>.
    /// It starts in the background with the host; wrong options fail the host's start. Health checks named
    /// <see cref="LiveCheck"/> (tag "live") and <see cref="ReadyCheck"/> (tag "ready") come with it.
    /// </summary>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.AddOptions<QuickSilverOptions>().ValidateOnStart();
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IValidateOptions<QuickSilverOptions>, OptionsCheck>());
        services.TryAddSingleton(TimeProvider.System);
        services.TryAddSingleton<NodeStarter>(static _ => QuickSilverNode.StartAsync);
        if (services.All(static service => service.ServiceType != typeof(NodeHolder)))
        {
            services.AddSingleton<NodeHolder>();
            services.AddSingleton<INodeProvider>(static provider => provider.GetRequiredService<NodeHolder>());
            services.AddSingleton<NodeLifetime>();
            services.AddSingleton<IHostedService>(static provider => provider.GetRequiredService<NodeLifetime>());
            services.AddHealthChecks()
                .Add(new HealthCheckRegistration(
                    LiveCheck, static provider => Check(provider, isReadiness: false), null, ["live", "quicksilver"]))
                .Add(new HealthCheckRegistration(
                    ReadyCheck, static provider => Check(provider, isReadiness: true), null, ["ready", "quicksilver"]));
        }

        return new QuickSilverBuilder(services);
    }

    /// <summary>
    /// Adds a node whose options are bound from a configuration section, by their names. A name in the section that is no option
    /// fails the host's start.
    /// </summary>
    /// <inheritdoc cref="AddQuickSilver(IServiceCollection)"/>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services, IConfiguration section)
    {
        ArgumentNullException.ThrowIfNull(section);
        var builder = services.AddQuickSilver();
        services.Configure<QuickSilverOptions>(options => OptionsBinding.Bind(section, options));
        return builder;
    }

    /// <summary>Adds a node and sets its options in code.</summary>
    /// <inheritdoc cref="AddQuickSilver(IServiceCollection)"/>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services, Action<QuickSilverOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        var builder = services.AddQuickSilver();
        services.Configure(configure);
        return builder;
    }

    private static NodeHealthCheck Check(IServiceProvider provider, bool isReadiness) =>
        new(provider.GetRequiredService<NodeHolder>(), [.. provider.GetServices<IHostedTopic>()], isReadiness);
}
