using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using QuickSilver;
using QuickSilver.Aspire;
using QuickSilver.Hosting;
using QuickSilver.OpenTelemetry;

namespace Microsoft.Extensions.Hosting;

/// <summary>Adds nodes of QuickSilver to the projects of an Aspire application.</summary>
public static class QuickSilverHostApplicationBuilderExtensions
{
    private const string Section = "Aspire:QuickSilver";

    /// <summary>
    /// Adds the node of the host, which joins the cluster of a connection string, with health checks, metrics and traces. Options are first
    /// read from the section <c>QuickSilver</c> of the configuration, if there is one; the connection string replaces the address of the
    /// membership service, the name of the cluster and the secret.
    /// </summary>
    /// <param name="builder">The builder of the host.</param>
    /// <param name="connectionName">The name of the connection string, which is that of the resource in the app host.</param>
    /// <param name="configureSettings">Sets the settings, after they were read from the configuration. Null: nothing.</param>
    /// <param name="configureOptions">Sets options of the node, after the connection string was read. Null: nothing.</param>
    /// <returns>The builder to which topics are added.</returns>
    /// <remarks>A connection string that is missing or invalid fails the start of the host.</remarks>
    public static QuickSilverBuilder AddQuickSilver(
        this IHostApplicationBuilder builder,
        string connectionName,
        Action<QuickSilverSettings>? configureSettings = null,
        Action<QuickSilverOptions>? configureOptions = null) =>
        Add(builder, connectionName, key: null, configureSettings, configureOptions);

    /// <summary>
    /// Adds another node to the host, with the name of its connection string as its key. What belongs to it is injected by the key, as
    /// for <c>AddQuickSilver</c> of QuickSilver.Hosting with a key. It reads no options from the configuration but its connection string.
    /// </summary>
    /// <param name="builder">The builder of the host.</param>
    /// <param name="name">The name of the connection string, and the key.</param>
    /// <param name="configureSettings">Sets the settings, after they were read from the configuration. Null: nothing.</param>
    /// <param name="configureOptions">Sets options of the node, after the connection string was read. Null: nothing.</param>
    /// <returns>The builder to which topics are added.</returns>
    /// <remarks>A connection string that is missing or invalid fails the start of the host.</remarks>
    public static QuickSilverBuilder AddKeyedQuickSilver(
        this IHostApplicationBuilder builder,
        string name,
        Action<QuickSilverSettings>? configureSettings = null,
        Action<QuickSilverOptions>? configureOptions = null) =>
        Add(builder, name, name, configureSettings, configureOptions);

    private static QuickSilverBuilder Add(
        IHostApplicationBuilder builder,
        string connectionName,
        string? key,
        Action<QuickSilverSettings>? configureSettings,
        Action<QuickSilverOptions>? configureOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentException.ThrowIfNullOrEmpty(connectionName);
        var settings = Read(builder.Configuration, connectionName);
        configureSettings?.Invoke(settings);

        void Configure(QuickSilverOptions options)
        {
            Connection(settings, connectionName).ApplyTo(options);
            configureOptions?.Invoke(options);
        }

        var quicksilver = key is null ? builder.Services.AddQuickSilver(Configure) : builder.Services.AddQuickSilver(key, Configure);
        if (settings.DisableHealthChecks)
        {
            RemoveHealthChecks(builder.Services, key);
        }

        if (!settings.DisableMetrics)
        {
            builder.Services.AddOpenTelemetry().WithMetrics(static metrics => metrics.AddQuickSilverInstrumentation());
        }

        if (!settings.DisableTracing)
        {
            builder.Services.AddOpenTelemetry().WithTracing(static tracing => tracing.AddQuickSilverInstrumentation());
        }

        return quicksilver;
    }

    private static QuickSilverSettings Read(IConfiguration configuration, string connectionName)
    {
        var settings = new QuickSilverSettings();
        foreach (var section in new[] { configuration.GetSection(Section), configuration.GetSection($"{Section}:{connectionName}") })
        {
            settings.ConnectionString = section[nameof(settings.ConnectionString)] ?? settings.ConnectionString;
            settings.DisableHealthChecks = Flag(section, nameof(settings.DisableHealthChecks)) ?? settings.DisableHealthChecks;
            settings.DisableTracing = Flag(section, nameof(settings.DisableTracing)) ?? settings.DisableTracing;
            settings.DisableMetrics = Flag(section, nameof(settings.DisableMetrics)) ?? settings.DisableMetrics;
        }

        settings.ConnectionString = configuration.GetConnectionString(connectionName) ?? settings.ConnectionString;
        return settings;
    }

    private static bool? Flag(IConfigurationSection section, string key) => section[key] switch
    {
        null => null,
        var text when bool.TryParse(text, out bool value) => value,
        var text => throw new InvalidOperationException($"{section.Path}:{key} is \"{text}\". Allowed: true or false."),
    };

    private static ConnectionText Connection(QuickSilverSettings settings, string connectionName) => settings.ConnectionString is { } text
        ? new ConnectionText(connectionName, text)
        : throw new InvalidOperationException(
            $"There is no connection string '{connectionName}'. Call WithReference in the app host with the resource of this name, or set "
            + $"ConnectionStrings:{connectionName} or {Section}:ConnectionString.");

    private static void RemoveHealthChecks(IServiceCollection services, string? key) =>
        services.PostConfigure<HealthCheckServiceOptions>(checks =>
        {
            string suffix = key is null ? "" : $"-{key}";
            string[] own =
            [
                QuickSilverServiceCollectionExtensions.LiveCheck + suffix, QuickSilverServiceCollectionExtensions.ReadyCheck + suffix,
            ];
            foreach (var check in checks.Registrations.Where(one => own.Contains(one.Name)).ToList())
            {
                checks.Registrations.Remove(check);
            }
        });
}
